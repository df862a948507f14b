# docs/_ext/site_diagram.py: a good drawing is inlined, each fault of one is refused.
from __future__ import annotations

import functools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from site_build import build
from site_diagram import SVG, find_faults

DOCS = Path(__file__).resolve().parents[2]
DIAGRAMS = sorted((DOCS / "_static" / "diagrams").glob("*.svg"))
OPENREG = DOCS.parent / "openreg"
EACH_DIAGRAM = pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
GOOD = """<!-- A comment. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 60" font-size="13">
  <title>A box</title>
  <desc>One box.</desc>
  <rect id="box-frame" x="1" y="1" width="90" height="40" fill="none"
        stroke="currentColor"/>
  <text x="10" y="20">words</text>
</svg>
"""


def test_good_drawing_has_no_fault() -> None:
    assert find_faults("box", GOOD) == []


@EACH_DIAGRAM
def test_committed_drawings_are_good(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert find_faults(path.stem, text) == []
    assert text.count("\n") <= 120, "a drawing too long to edit by hand"


def test_the_guide_has_many_drawings() -> None:
    assert len(DIAGRAMS) >= 25


@functools.cache
def pages() -> dict[Path, str]:
    """Return the text of every page of the guide."""
    return {page: page.read_text(encoding="utf-8") for page in DOCS.glob("*/*.md")}


def pages_with(path: Path) -> list[Path]:
    """Return the pages that show a drawing."""
    directive = f"\n```{{diagram}} {path.stem}\n"
    return [page for page, text in pages().items() if directive in text]


@EACH_DIAGRAM
def test_every_drawing_is_on_the_page_that_it_names(path: Path) -> None:
    (page,) = pages_with(path)
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert page.relative_to(DOCS.parent).as_posix() in first


@functools.cache
def sources() -> str:
    """Return the sources of the backend, its examples and its tests, in one text."""
    files = (
        file for kind in ("h", "cpp", "c", "py") for file in OPENREG.rglob(f"*.{kind}")
    )
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def names_in(drawing: str) -> set[str]:
    """Return the names of code in a drawing: they are in a monospace font."""
    elements = ElementTree.fromstring(drawing).iter()
    code = (
        element.text or ""
        for element in elements
        if element.tag in {f"{SVG}text", f"{SVG}tspan"}
        and element.get("font-family") == "monospace"
    )
    return set(re.findall(r"[A-Za-z_]{3,}[A-Za-z_0-9]*", " ".join(code)))


def unknown_names(drawing: str, page: str) -> set[str]:
    """Return the names that neither the backend nor the page has, drawings aside."""
    shown = re.sub(r"(?m)^:alt:.*$", "", page)
    return {n for n in names_in(drawing) if n not in shown and n not in sources()}


@EACH_DIAGRAM
def test_names_in_drawings_exist(path: Path) -> None:
    drawing = path.read_text(encoding="utf-8")
    assert names_in(drawing), "a drawing without a name of the code explains no code"
    for page in pages_with(path):
        assert unknown_names(drawing, pages()[page]) == set()


def test_a_name_that_does_not_exist_is_found() -> None:
    drawing = GOOD.replace("<text", '<text font-family="monospace"')
    page = ":alt: the words\n"
    assert unknown_names(drawing.replace("words", "no_such_name_1()"), page) == {
        "no_such_name_1"
    }
    assert unknown_names(drawing.replace("words", "find_this"), "find_this") == set()


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("</svg>", "", "not well-formed"),
        (' xmlns="http://www.w3.org/2000/svg"', "", "is not an <svg"),
        ("<title>A box</title>", "", "no <title>"),
        ("<title>A box</title>", "<title> </title>", "no <title>"),
        ("<desc>One box.</desc>", "", "no <desc>"),
        (' viewBox="0 0 380 60"', "", "no viewBox"),
        ("0 0 380 60", "0 0 900 60", "draw top-down"),
        (' font-size="13"', "", "no font-size"),
        ("words", "w" * 60, "cuts off"),
        ("words", "w" * 12, "leaves its box"),
        ('<text x="10"', '<text text-anchor="end" x="10"', "cuts off"),
        ("</svg>", '<text x="40" y="25">more</text></svg>', "two texts in one place"),
        ("<rect", '<rect transform="scale(2)"', "has a transform"),
        ("<rect", '<rect class="third"', "choose from first, second, wrong"),
        ('"none"', '"#fff"', "use currentColor"),
        ('stroke="currentColor"', 'stroke="black"', "use currentColor"),
        ("box-frame", "frame", "ids must start with 'box'"),
        ("<text", "<script/><text", "holds <script>"),
        ("<text", "<image/><text", "holds <image>"),
        ("<text", "<style/><text", "holds <style>"),
    ],
)
def test_faulty_drawing_is_refused(old: str, new: str, wanted: str) -> None:
    assert old in GOOD
    faults = find_faults("box", GOOD.replace(old, new))
    assert any(wanted in fault for fault in faults), faults


def page(directive: str) -> dict[str, str]:
    return {
        "index.md": f"# Page\n\n{directive}\n",
        "_static/diagrams/box.svg": GOOD,
        "_static/diagrams/bad.svg": GOOD.replace("<desc>One box.</desc>", ""),
    }


def test_drawing_is_inlined_with_its_text(tmp_path: Path) -> None:
    built = build(tmp_path, page('```{diagram} box\n:alt: A "box" & more.\n```'))
    assert built.code == 0, built.messages
    html = built.text("index.html")
    assert '<svg role="img" aria-label="A &quot;box&quot; &amp; more."' in html
    assert "<title>A box</title>" in html
    assert '[Diagram: A "box" & more.]' in built.text("index.md")


@pytest.mark.parametrize(
    ("directive", "wanted"),
    [
        ("```{diagram} box\n```", "add :alt:"),
        ("```{diagram} missing\n:alt: text\n```", "missing.svg does not exist"),
        ("```{diagram} bad\n:alt: text\n```", "has no <desc>"),
    ],
)
def test_faulty_use_stops_the_build(
    tmp_path: Path, directive: str, wanted: str
) -> None:
    built = build(tmp_path, page(directive))
    assert built.code != 0
    assert wanted in built.messages

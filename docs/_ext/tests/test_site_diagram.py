# docs/_ext/site_diagram.py: a good drawing is inlined, each fault of one is refused.
from __future__ import annotations

from pathlib import Path

import pytest
from site_build import build
from site_diagram import find_faults

DIAGRAMS = Path(__file__).resolve().parents[2] / "_static" / "diagrams"
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


@pytest.mark.parametrize(
    "path", sorted(DIAGRAMS.glob("*.svg")), ids=lambda path: path.stem
)
def test_committed_drawings_are_good(path: Path) -> None:
    assert find_faults(path.stem, path.read_text(encoding="utf-8")) == []


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

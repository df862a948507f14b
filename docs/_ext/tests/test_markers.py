"""One planted fault for every rule about markers in source files.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import subprocess

import pytest
from small_guide import Project, Warned, include, mark

WORD = "LITERALINCLUDE"
SOURCE = "openreg/device.py"
FAULTS = {
    "unclosed": (
        [f"# {WORD} START: ONE", "x = 1"],
        (1, "snippet ONE has no END marker"),
    ),
    "unopened": (
        ["x = 1", f"# {WORD} END: ONE"],
        (2, "END: ONE has no START marker"),
    ),
    "upside-down": (
        [f"# {WORD} END: ONE", "x = 1", f"# {WORD} START: ONE"],
        (1, "END: ONE stands above START: ONE"),
    ),
    "start-twice": (
        [f"# {WORD} START: ONE", f"# {WORD} START: ONE", "x = 1", f"# {WORD} END: ONE"],
        (2, "START: ONE is already in line 1"),
    ),
    "nested": (
        [
            *(f"# {WORD} START: ONE", f"# {WORD} START: TWO", "x = 1"),
            *(f"# {WORD} END: TWO", f"# {WORD} END: ONE"),
        ],
        (2, "snippet TWO lies inside snippet ONE"),
    ),
    "overlapping": (
        [
            *(f"# {WORD} START: ONE", f"# {WORD} START: TWO", "x = 1"),
            *(f"# {WORD} END: ONE", f"# {WORD} END: TWO"),
        ],
        (2, "snippet TWO lies across the end of snippet ONE"),
    ),
    "behind-code": (
        [f"x = 1  # {WORD} START: ONE"],
        (1, "is not a marker"),
    ),
    "small-letters": (
        [f"# {WORD} START: one"],
        (1, "is not a marker"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_refuses_marker(project: Project, name: str) -> None:
    lines, (number, text) = FAULTS[name]
    project.write(SOURCE, "\n".join(lines) + "\n")
    # Both names are included, so that nothing is unused.
    project.page(
        *(include(f"../{SOURCE}", n) for n in ("ONE", "TWO") if f": {n}" in str(lines))
    )
    source_faults = [w for w in project.build() if w.place.startswith(SOURCE)]
    assert [(w.rule, w.place) for w in source_faults] == [
        ("contract.marker", f"{SOURCE}:{number}")
    ]
    assert text in source_faults[0].text


def test_refuses_unused_marker(project: Project) -> None:
    project.write(SOURCE, mark("ONE", "x = 1") + mark("UNUSED", "y = 2"))
    project.page(include(f"../{SOURCE}", "ONE"))
    assert project.build() == [
        Warned(
            "contract.marker",
            f"{SOURCE}:4",
            "no page includes snippet UNUSED. Include it or remove its markers.",
        )
    ]


def test_notices_an_unused_marker_though_no_page_has_changed(project: Project) -> None:
    project.write(SOURCE, mark("ONE", "x = 1"))
    project.page(include(f"../{SOURCE}", "ONE"))
    assert project.build() == []
    project.write("src/other.py", mark("UNUSED", "y = 2"))
    assert [(w.rule, w.place) for w in project.build(fresh=False)] == [
        ("contract.marker", "src/other.py:1")
    ]


def test_notices_that_a_page_stopped_using_a_marker(project: Project) -> None:
    project.write(SOURCE, mark("ONE", "x = 1"))
    project.page(include(f"../{SOURCE}", "ONE"))
    assert project.build() == []
    project.page("Nothing.\n")
    assert [w.rule for w in project.build(fresh=False)] == ["contract.marker"]


def test_refuses_name_used_in_two_files(project: Project) -> None:
    project.write("a.py", mark("ONE", "x = 1"))
    project.write("b.py", mark("ONE", "x = 1"))
    project.page(include("../a.py", "ONE"), include("../b.py", "ONE"))
    [warned] = project.build()
    assert warned[:2] == ("contract.marker", "b.py:1")
    assert "already used at a.py:1" in warned.text


def test_longer_name_is_another_name(project: Project) -> None:
    """Sphinx by itself would take GRAPH_CAPTURE, which stands first, for GRAPH."""
    source = mark("GRAPH_CAPTURE", "capture = 1") + mark("GRAPH", "graph = 2")
    project.write(SOURCE, source)
    project.page(
        include(f"../{SOURCE}", "GRAPH_CAPTURE"), include(f"../{SOURCE}", "GRAPH")
    )
    assert project.build("html") == []
    html = (project.out / "index.html").read_text(encoding="utf-8")
    assert html.index("capture") < html.index("graph")


def test_refuses_part_of_a_name(project: Project) -> None:
    project.write(SOURCE, mark("GRAPH_CAPTURE", "capture = 1"))
    project.page(
        include(f"../{SOURCE}", "GRAPH"), include(f"../{SOURCE}", "GRAPH_CAPTURE")
    )
    [warned] = project.build()
    assert warned[:2] == ("contract.marker", "docs/index.md:3")
    assert "has no snippet named GRAPH. It has: GRAPH_CAPTURE." in warned.text


def test_ignored_files_are_no_sources(project: Project) -> None:
    project.write(".gitignore", "generated.py\nout/\n")
    project.write("generated.py", mark("ONE", "x = 1"))
    subprocess.run(["git", "init", "-q", str(project.root)], check=True)
    project.page(include("../generated.py", "ONE"))
    [warned] = project.build()
    assert warned[:2] == ("contract.path", "docs/index.md:3")
    assert "generated.py is no source file: git ignores it" in warned.text

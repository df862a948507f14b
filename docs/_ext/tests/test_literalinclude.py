"""One planted fault for every rule about `{literalinclude}`.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import pytest
from small_guide import Project, include, mark

PATH = "../openreg/device.py"
CODE = ("first = 1", "second = 2", "third = first + second")


@pytest.fixture
def source(project: Project) -> Project:
    project.write("openreg/device.py", mark("ONE", *CODE))
    return project


def only_warning(project: Project, *blocks: str) -> tuple[str, str, str]:
    """Build a page; the source is included once without fault below the blocks."""
    project.page(*blocks, include(PATH, "ONE"))
    [warned] = project.build()
    return warned


@pytest.mark.parametrize(
    "option",
    [
        ":lines: 1-2",
        ":emphasize-lines: 1",
        ":diff: ../openreg/other.py",
        ":start-at: first",
        ":end-at: first",
        ":pyobject: first",
        ":lineno-start: 3",
        ":lineno-match:",
        ":linenos:",
        ":dedent: 2",
        ":prepend: x",
        ":append: x",
    ],
)
def test_refuses_option(source: Project, option: str) -> None:
    rule, place, text = only_warning(source, include(PATH, "ONE", option))
    assert (rule, place) == ("contract.option", "docs/index.md:3")
    assert f"takes no {option.split(': ')[0].rstrip(':')}: here" in text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            include(PATH, "ONE").replace(":language: python\n", ""),
            "add :language:",
        ),
        (
            include(PATH, "ONE").replace("LITERALINCLUDE START: ONE", "first = 1"),
            "It must be 'LITERALINCLUDE START: NAME'",
        ),
        (
            include(PATH, "ONE").replace(":end-before: LITERALINCLUDE END: ONE\n", ""),
            ":end-before: is ''",
        ),
        (
            include(PATH, "ONE").replace("END: ONE", "END: TWO"),
            ":start-after: names ONE, :end-before: names TWO",
        ),
    ],
    ids=["no-language", "loose-text", "no-end", "two-names"],
)
def test_refuses_loose_include(source: Project, block: str, text: str) -> None:
    rule, place, message = only_warning(source, block)
    assert (rule, place) == ("contract.option", "docs/index.md:3")
    assert text in message


def test_refuses_option_given_twice(source: Project) -> None:
    block = include(PATH, "ONE", ":emphasize-text: first", ":emphasize-text: second =")
    rule, place, text = only_warning(source, block.replace("first\n", "first =\n"))
    assert (rule, place) == ("contract.option", "docs/index.md:8")
    assert ":emphasize-text: is given twice" in text


@pytest.mark.parametrize(("wanted", "count"), [("first", 2), ("fourth", 0)])
def test_refuses_drifted_emphasis(source: Project, wanted: str, count: int) -> None:
    block = include(PATH, "ONE", f":emphasize-text: {wanted}")
    rule, place, text = only_warning(source, block)
    assert (rule, place) == ("contract.emphasis", "docs/index.md:3")
    assert f"{wanted!r} is in {count} lines of snippet ONE" in text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("../../outside.py", "lies outside the repository"),
        ("../openreg/absent.py", "openreg/absent.py does not exist"),
        ("copy.py", "docs/copy.py is a copy made for the docs"),
        ("../openreg/blob.py", "openreg/blob.py is no source file"),
    ],
)
def test_refuses_path(source: Project, path: str, text: str) -> None:
    source.write("docs/copy.py", mark("ONE", *CODE))
    source.write("openreg/blob.py", b"\xff\xfe\x00")
    rule, place, message = only_warning(source, include(path, "ONE"))
    assert (rule, place) == ("contract.path", "docs/index.md:3")
    assert text in message


def test_refuses_empty_snippet(source: Project) -> None:
    source.write("openreg/empty.py", mark("EMPTY", "", "  "))
    rule, place, text = only_warning(source, include("../openreg/empty.py", "EMPTY"))
    assert (rule, place) == ("contract.empty", "docs/index.md:3")
    assert "snippet EMPTY of openreg/empty.py is empty" in text


def test_refuses_wide_line_counted_after_dedent(source: Project) -> None:
    fits, wide = "    x = '" + "a" * 82 + "'", "    x = '" + "a" * 83 + "'"
    source.write("openreg/wide.py", mark("WIDE", fits, wide, comment="    #"))
    rule, place, text = only_warning(source, include("../openreg/wide.py", "WIDE"))
    assert (rule, place) == ("contract.width", "openreg/wide.py:3")
    assert "this line has 89 columns, at most 88 fit" in text


CALLED = ("a = 1  # (1)", "b = 2", "c = 3  # (2)")


@pytest.mark.parametrize(
    ("lines", "below", "text"),
    [
        (CALLED, "1. one\n", "has 2 callouts, and the numbered list right below has 1"),
        (CALLED, "Prose.\n\n1. one\n2. two\n", "right below has 0 entries"),
        (CALLED, "- one\n- two\n", "right below has 0 entries"),
        (CALLED[::-1], "1. one\n2. two\n", "are numbered [2, 1]"),
        (("a = 1  # (2)",), "1. one\n", "are numbered [2]"),
        (("a = 1  # noqa  # (1)",), "1. one\n", "stands behind another comment"),
    ],
    ids=["too-few", "not-below", "no-numbers", "order", "gap", "comment"],
)
def test_refuses_callouts(
    source: Project, lines: tuple[str, ...], below: str, text: str
) -> None:
    source.write("openreg/called.py", mark("CALLED", *lines))
    block = include("../openreg/called.py", "CALLED")
    rule, place, message = only_warning(source, block, below)
    assert (rule, place) == ("contract.callout", "docs/index.md:3")
    assert text in message


def test_accepts_callouts_explained_below(source: Project) -> None:
    source.write("openreg/called.py", mark("CALLED", *CALLED))
    source.page(
        include("../openreg/called.py", "CALLED"),
        "{.callouts}\n1. one\n2. two\n",
        include(PATH, "ONE"),
    )
    assert source.build() == []


def test_contract_cannot_be_silenced(source: Project) -> None:
    from sphinx.errors import ConfigError

    source.conf += "suppress_warnings = ['contract.bare']\n"
    with pytest.raises(ConfigError, match="cannot be silenced"):
        source.build()

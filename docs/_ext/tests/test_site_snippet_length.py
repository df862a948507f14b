# docs/_ext/site_snippet_length.py: which blocks are too long, and how the list shrinks.
from __future__ import annotations

import pytest
from docutils import nodes
from site_snippet_length import fault
from small_guide import Project, include, mark

PATH = "../openreg/device.py"


def block(
    lines: int, contract: str = "include", **marks: object
) -> nodes.literal_block:
    text = "f()\n\n" * lines
    return nodes.literal_block(text, text, contract=contract, **marks)


@pytest.mark.parametrize("contract", ["include", "doctest", "transcript"])
def test_no_block_has_more_than_25_lines(contract: str) -> None:
    assert fault(block(25, contract, callouts=[1])) is None
    assert "has 26 lines, at most 25" in str(fault(block(26, contract, callouts=[1])))


def test_a_snippet_of_more_than_12_lines_shows_where_to_look() -> None:
    assert fault(block(12)) is None
    assert "has 13 lines, more than 12: add callouts" in str(fault(block(13)))
    assert "more than 12" in str(fault(block(13, highlight_args={"hl_lines": []})))
    assert fault(block(13, callouts=[1])) is None
    assert fault(block(13, highlight_args={"hl_lines": [3]})) is None
    assert fault(block(13, "doctest")) is None


@pytest.mark.parametrize(
    ("lines", "listed", "text"),
    [
        (13, [], "this snippet has 13 lines, more than 12"),
        (13, ["index"], None),
        (12, ["index"], "are short: remove it from site_long_snippets"),
        (12, ["gone"], "site_long_snippets lists 'gone', which is no page"),
    ],
)
def test_pages_that_are_listed(
    project: Project, lines: int, listed: list[str], text: str | None
) -> None:
    project.write("openreg/device.py", mark("ONE", *["f()"] * lines))
    project.page(include(PATH, "ONE"))
    project.conf += "extensions.append('site_snippet_length')\n"
    project.conf += f"site_long_snippets = {listed}\n"
    warned = [w for w in project.build() if w.rule.startswith("snippet-length")]
    assert [text in w.text for w in warned] == ([True] if text else [])

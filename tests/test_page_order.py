# The order of the pages follows what each one says to read before; see docs/index.md.
"""The prerequisites of a page are the links in its sentence "Read ... first."."""

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r"\bRead (?:about )?((?:(?!\. )[^|])+) first\b")
LINK = re.compile(r"\]\(([^)#:]+)\.md(?:#[^)]*)?\)")
# They start from nothing, or are read when something is wrong.
WITHOUT = {"start/quickstart", "ship/known-gaps", "ship/known-crashes"}


# Tables that a reader opens from the page that explains them, not from the sidebar.
LINKED_ONLY = {
    *("reference/conformance-faults", "reference/conformance-knockouts"),
    *("reference/conformance-runs", "reference/starter-knockouts"),
    *("reference/ladder-files", "reference/libraries-table", "reference/torchao-table"),
    "reference/device-module-table",
}


def order():
    """The pages as the front page lists them."""
    lists = TOCTREE.findall((DOCS / "index.md").read_text())
    return [line for text in lists for line in text.splitlines() if line[:1].isalpha()]


PAGES = [name for name in order() if not name.startswith("reference/")]


@cache
def prerequisites(name):
    """The pages that a page says to read first."""
    page = DOCS / f"{name}.md"
    introduction = re.sub(r"\s+", " ", page.read_text().partition("\n## ")[0])
    links = [
        link
        for sentence in SENTENCE.findall(introduction)
        for link in LINK.findall(sentence)
    ]
    return [
        (page.parent / link).resolve().relative_to(DOCS).as_posix() for link in links
    ]


def test_the_front_page_lists_each_page_once():
    there = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in DOCS.glob("[!_]*/*.md")
    }
    assert sorted([*order(), *LINKED_ONLY]) == sorted(there)


@pytest.mark.parametrize("name", sorted(LINKED_ONLY))
def test_a_page_outside_of_the_sidebar_is_linked(name):
    link = f"{name}.md"
    assert any(link in (DOCS / f"{page}.md").read_text() for page in PAGES)


def test_the_prerequisites_have_no_cycle():
    sorter = TopologicalSorter({name: prerequisites(name) for name in PAGES})
    assert set(sorter.static_order()) == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_needs_comes_before_it(name):
    needed = prerequisites(name)
    assert bool(needed) == (name not in WITHOUT), "say: Read [...](...) first."
    for other in needed:
        assert order().index(other) < order().index(name), f"{name} needs {other}"


def test_the_sentence_is_found():
    found = SENTENCE.findall(
        "It is x. Read [a first a](b.md) and [c](../d/e.md#f) first. Not [g](h.md)."
    )
    assert LINK.findall(found[0]) == ["b", "../d/e"]

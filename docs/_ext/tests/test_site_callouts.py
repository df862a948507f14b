# docs/_ext/site_callouts.py: comments become badges, other comments stay.
from __future__ import annotations

from pathlib import Path

import pytest
from docutils import nodes
from docutils.utils import new_document
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from site_build import build
from site_callouts import draw_badges, mark_lists


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("cpp", "int a = f(b);  // (1)\nreturn a; // (2)\n"),
        ("c", "int a = f(b); // (1)\nreturn a;// (2)\n"),
        ("python", "a = f(b)  # (1)\nreturn a # (2)\n"),
        ("cmake", "set(A b) # (1)\nset(C d)\t# (2)\n"),
        ("toml", 'a = "b" # (1)\nc = "d" # (2)\n'),
        ("console", "$ ls # (1)\n$ cat # (2)\n"),
    ],
)
def test_callout_comments_become_badges(language: str, code: str) -> None:
    html = draw_badges(highlight(code, get_lexer_by_name(language), HtmlFormatter()))
    assert html.count('class="callout"') == 2
    for number in "12":
        assert f'aria-label="callout {number}">{number}</span>' in html
    assert "(1)" not in html
    assert "(2)" not in html


@pytest.mark.parametrize("comment", ["// see (1)", "// (a)", "// 1", "// (1) why"])
def test_other_comments_stay(comment: str) -> None:
    code = f"int a; {comment}\n"
    html = highlight(code, get_lexer_by_name("cpp"), HtmlFormatter())
    assert draw_badges(html) == html


def document(*children: nodes.Node) -> nodes.document:
    doctree = new_document("page.md")
    doctree += list(children)
    return doctree


@pytest.mark.parametrize("framed", [False, True])
def test_list_below_the_block_is_marked(framed: bool) -> None:
    block = nodes.literal_block("", "f(); // (1)")
    explained = nodes.enumerated_list("", nodes.list_item())
    unrelated = nodes.enumerated_list("", nodes.list_item())
    top = nodes.container("", block) if framed else block
    mark_lists(document(top, explained, nodes.paragraph(), unrelated))
    assert explained["classes"] == ["callouts"]
    assert unrelated["classes"] == []


def test_list_below_a_block_without_callouts_stays() -> None:
    steps = nodes.enumerated_list("", nodes.list_item())
    mark_lists(document(nodes.literal_block("", "f(); // one"), steps))
    assert steps["classes"] == []


def test_page_shows_badges_and_marked_list(tmp_path: Path) -> None:
    page = "# Page\n\n```cpp\nf(); // (1)\n```\n\n1. Calls it.\n"
    built = build(tmp_path, {"index.md": page})
    assert built.code == 0, built.messages
    html = built.text("index.html")
    assert '<span class="callout" role="img" aria-label="callout 1">1</span>' in html
    assert '<ol class="arabic simple callouts">' in html

# docs/_ext/site_reading_time.py: what counts, what is shown, and what is refused.
from __future__ import annotations

from pathlib import Path

import pytest
from docutils import nodes
from docutils.utils import new_document
from site_build import build
from site_reading_time import reading_time

CODE = "```text\n" + "f()\n" * 20 + "```\n"
WORDS = "word *in* `code` word. " * 55  # 220


@pytest.mark.parametrize(
    ("minutes", "words", "lines"),
    [(1, 220, 0), (2, 221, 0), (1, 0, 20), (2, 220, 20), (3, 220, 21), (1, 110, 10)],
)
def test_words_and_lines_of_code_count(minutes: int, words: int, lines: int) -> None:
    doctree = new_document("page.md")
    doctree += nodes.paragraph("", "word " * words)
    doctree += nodes.container("", nodes.literal_block("", "f()\n\n" * lines))
    assert reading_time(doctree) == minutes


def test_page_shows_its_minutes_under_the_title(tmp_path: Path) -> None:
    page = f"# A page\n\n{WORDS}\n\n{CODE}"
    built = build(tmp_path, {"index.md": page})
    assert built.code == 0, built.messages
    html = built.text("index.html")
    title = html.index("</h1>")
    assert html[title:].startswith('</h1>\n<p class="reading-time">3 min read</p>')


@pytest.mark.parametrize(("title", "minutes"), [("Solution", 1), ("Files", 4)])
def test_a_folded_solution_does_not_count(
    tmp_path: Path, title: str, minutes: int
) -> None:
    page = f"# A page\n\n::::{{dropdown}} {title}\n\n{WORDS * 2}\n\n{CODE}\n::::\n"
    built = build(tmp_path, {"index.md": page})
    assert built.code == 0, built.messages
    assert f">{minutes} min read<" in built.text("index.html")


def test_long_page_is_refused(tmp_path: Path) -> None:
    built = build(tmp_path, {"index.md": f"# A page\n\n{WORDS * 15}\n"})
    assert built.code != 0
    assert "takes 16 minutes to read, more than 15: split it" in built.messages


def test_listed_page_may_be_long(tmp_path: Path) -> None:
    page = f"# A page\n\n{WORDS * 15}\n"
    built = build(tmp_path, {"index.md": page}, settings='site_long_pages = ["index"]')
    assert built.code == 0, built.messages


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("index", "takes only 1 minutes: remove it from site_long_pages"),
        ("gone", "site_long_pages lists 'gone', which is no page"),
    ],
)
def test_list_can_only_shrink(tmp_path: Path, listed: str, message: str) -> None:
    settings = f"site_long_pages = [{listed!r}]"
    built = build(tmp_path, {"index.md": "# A page\n\nText.\n"}, settings=settings)
    assert built.code != 0
    assert message in built.messages


def test_reference_is_not_measured(tmp_path: Path) -> None:
    pages = {
        "index.md": "# A page\n\n```{toctree}\nreference/all\n```\n",
        "reference/all.md": f"# All\n\n{WORDS * 11}\n",
    }
    built = build(tmp_path, pages)
    assert built.code == 0, built.messages
    assert "min read" not in built.text("reference/all.html")


def test_a_page_shows_the_minutes_of_others(tmp_path: Path) -> None:
    toctree = "```{toctree}\na\nb\n```\n"
    pages = {
        "index.md": f"# Front\n\n{{minutes}}`a`, all {{minutes}}`a b`\n\n{toctree}",
        "a.md": f"# A page\n\n{WORDS}\n\n{CODE}",
        "b.md": f"# A page\n\n{WORDS}\n",
    }
    built = build(tmp_path, pages)
    assert built.code == 0, built.messages
    html = built.text("index.html")
    assert '<span class="minutes">3 min</span>' in html
    assert '<span class="minutes">5 min</span>' in html
    assert "3 min, all 5 min" in built.text("index.md")


def test_the_minutes_of_no_page_are_refused(tmp_path: Path) -> None:
    built = build(tmp_path, {"index.md": "# Front\n\n{minutes}`gone`\n"})
    assert built.code != 0
    assert "minutes: 'gone' is no page with a reading time" in built.messages

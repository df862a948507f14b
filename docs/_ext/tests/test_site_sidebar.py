# docs/_ext/site_sidebar.py: the part and the chapter of a page are open, no others.
from __future__ import annotations

import re
import tomllib
from pathlib import Path

from site_build import EXTENSIONS, build
from site_sidebar import LONGEST, parts_of, sidebar

DOCS = EXTENSIONS.parent
ORDER = [
    *(("a/one", "First"), ("a/one-more", "First"), ("a/two", "First")),
    *(("b/three", "Second"), ("b/other", "Second"), ("b/four", "Second")),
]
TITLES = {page: page.upper() for page, _ in ORDER}
MOST_LINKS = 40


def shown(page: str) -> str:
    parts = parts_of(ORDER, {"b/three": ["b/other"]})
    return sidebar(parts, TITLES, page, lambda name: f"{name}.html")


def test_pages_follow_their_chapter() -> None:
    parts = parts_of(ORDER, {"b/three": ["b/other"]})
    found = [[(c.page, c.pages) for c in part.chapters] for part in parts]
    assert found == [
        [("a/one", ["a/one-more"]), ("a/two", [])],
        [("b/three", ["b/other"]), ("b/four", [])],
    ]


def test_the_part_of_the_page_is_open() -> None:
    html = shown("b/four")
    assert html.count("<details open>") == 1
    assert "<details open>\n<summary>Second" in html
    assert 'href="b/four.html" class="current" aria-current="page"' in html
    assert "a/one-more" not in html
    assert "b/other" not in html


def test_the_chapter_of_the_page_shows_its_pages() -> None:
    for page in ("a/one", "a/one-more"):
        assert "a/one-more.html" in shown(page)


def test_a_page_outside_all_parts_opens_the_first() -> None:
    html = shown("index")
    assert html.count("<details open>") == 1
    assert "<details open>\n<summary>First" in html
    assert "current" not in html


def test_the_sidebar_leaves_out_pages_that_others_only_link(tmp_path: Path) -> None:
    tree = "```{toctree}\n:caption: Part\n\none\n```\n"
    pages = {
        "index.md": f"# Home\n\n{tree}",
        "one.md": "# One\n\nSee [a table](table.md).\n",
        "table.md": "---\norphan: true\n---\n\n# Table\n",
    }
    settings = """
extensions.append("site_sidebar")
def show(app, pagename, templatename, context, doctree):
    context["body"] = context.get("body", "") + context["site_sidebar"]
def setup(app):
    app.connect("html-page-context", show, priority=900)
"""
    built = build(tmp_path, pages, settings=settings)
    assert built.code == 0, built.messages
    home = built.text("index.html")
    assert home.count("<summary>") == 1
    assert "table.html" not in home.partition("site-parts")[2]


def test_the_guide_shows_few_links_with_short_titles() -> None:
    """The map of the front page and docs/sidebar.toml, without a build."""
    settings = tomllib.loads((DOCS / "sidebar.toml").read_text())
    order = order_of_the_guide()
    titles = {page: title_of(page) for page, _ in order} | settings["titles"]
    assert set(settings["titles"]) <= {page for page, _ in order}, "pages that left"
    under = {page for pages in settings["under"].values() for page in pages}
    assert under | set(settings["under"]) <= {page for page, _ in order}
    parts = parts_of(order, settings["under"])
    for page, _ in order:
        html = sidebar(parts, titles, page, lambda name: f"{name}.html")
        opened = re.search(r"<details open>(.*?)</details>", html, re.DOTALL)
        assert opened is not None, page
        assert opened[1].count("<a ") <= MOST_LINKS, page
    long = [title for title in titles.values() if len(title) > LONGEST]
    assert not long, f"docs/sidebar.toml needs shorter titles: {long}"


def order_of_the_guide() -> list[tuple[str, str]]:
    text = (DOCS / "index.md").read_text()
    trees = re.findall(r"```\{toctree\}\n((?::.*\n)+)\n((?:\S+\n)+)```", text)
    return [
        (page.split("<")[-1].rstrip(">"), caption[1])
        for options, pages in trees
        if (caption := re.search(r":caption: (.+)", options))
        for page in pages.split()
    ]


def title_of(page: str) -> str:
    head, _, _ = Path(DOCS, f"{page}.md").read_text().partition("\n")
    return head.removeprefix("# ").replace("`", "")

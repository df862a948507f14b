# Links the generated list of files below "Copy into your backend" of each chapter.
"""A chapter names the files to take, in prose; the list has all that they include.

``openreg/tests/tools/feature_pages.py`` writes docs/reference/copy-lists.md. A section
there names a chapter, whose section "Copy into your backend" gets a link.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

LISTS = "reference/copy-lists"
NOT_READ = "copy-list"  # site_reading_time does not count it
TITLE = "Copy into your backend"
FEATURE = re.compile(r"^## (.+)\n\nStage \d\. Chapter: \[([^\]]+)\]", re.MULTILINE)
SECTION = re.compile(rf"^## {TITLE}\n(?:(?!^## ).*\n?)*", re.MULTILINE)


def chapters(text: str) -> dict[str, list[str]]:
    """For each chapter, the titles of its features on the page of the lists."""
    found: dict[str, list[str]] = {}
    for title, page in FEATURE.findall(text):
        found.setdefault(page, []).append(title)
    return found


def with_links(source: str, page: str, titles: list[str]) -> str:
    """The source of a page with the links at the end of its section."""
    up = "../" * page.count("/")
    links = [f"[{title.lower()}]({up}{LISTS}.md#{anchor(title)})" for title in titles]
    line = "All files, with what they include and what the test needs"
    line = f"{{.{NOT_READ}}}\n{line}: {', '.join(links)}.\n"
    return SECTION.sub(lambda m: f"{m[0].rstrip()}\n\n{line}\n", source, count=1)


def anchor(title: str) -> str:
    """The anchor of a heading, as MyST makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _link(app: Sphinx, page: str, source: list[str]) -> None:
    lists = Path(app.srcdir) / f"{LISTS}.md"
    if page != LISTS and lists.is_file():
        titles = chapters(lists.read_text(encoding="utf-8")).get(page)
        if titles:
            source[0] = with_links(source[0], page, titles)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the links when a page is read."""
    app.connect("source-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

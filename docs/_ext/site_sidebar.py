# Makes the sidebar: parts that open, chapters, and the pages of the open chapter.
"""Three levels, of which a reader sees what the page belongs to.

A part is a toctree of the front page with its caption. In it, pages whose names begin
with the name of a chapter belong to this chapter: ``modules/graphs-capture``
follows ``modules/graphs``. Only the part of the page is open, and in it only the
chapter of the page. ``docs/sidebar.toml`` has short titles, and chapters whose pages
have other names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from site_llms import LINKED_ONLY, page_order
from sphinx.application import Sphinx

LONGEST = 28  # letters of a title that fit the sidebar on one line
Address = Callable[[str], str]


@dataclass
class Chapter:
    """A page of the second level, with its pages."""

    page: str
    pages: list[str] = field(default_factory=list)


@dataclass
class Part:
    """A caption of the map with its chapters."""

    title: str
    chapters: list[Chapter] = field(default_factory=list)

    def __contains__(self, page: str) -> bool:
        return any(page in (one.page, *one.pages) for one in self.chapters)


def parts_of(order: list[tuple[str, str]], under: dict[str, list[str]]) -> list[Part]:
    """Group the pages in their order; ``under`` names the pages of some chapters."""
    parent = {page: chapter for chapter, pages in under.items() for page in pages}
    parts: list[Part] = []
    for page, title in order:
        if not parts or parts[-1].title != title:
            parts.append(Part(title))
        chapters = parts[-1].chapters
        above = chapters[-1].page if chapters else None
        if above and (parent.get(page) == above or page.startswith(f"{above}-")):
            chapters[-1].pages.append(page)
        else:
            chapters.append(Chapter(page))
    return parts


def sidebar(
    parts: list[Part], titles: dict[str, str], page: str, address: Address
) -> str:
    """The sidebar as a page shows it that belongs to ``page``.

    A page outside all parts, such as the front page, opens the first one.
    """
    opened = next((part for part in parts if page in part), (*parts, None)[0])

    def link(name: str) -> str:
        current = ' class="current" aria-current="page"' if name == page else ""
        return f'<a href="{escape(address(name))}"{current}>{escape(titles[name])}</a>'

    def lines() -> Iterator[str]:
        yield '<ul class="site-parts">'
        for part in parts:
            yield f"<li><details{' open' if part is opened else ''}>"
            yield f"<summary>{escape(part.title)}</summary><ul>"
            for chapter in part.chapters:
                yield f"<li>{link(chapter.page)}"
                if page == chapter.page or page in chapter.pages:
                    below = "".join(f"<li>{link(one)}</li>" for one in chapter.pages)
                    yield f"<ul>{below}</ul>" if below else ""
                yield "</li>"
            yield "</ul></details></li>"
        yield "</ul>"

    return "\n".join(line for line in lines() if line)


def short_titles(app: Sphinx, listed: dict[str, str]) -> dict[str, str]:
    """The titles of all pages, those of the list instead of their own."""
    own = {name: title.astext() for name, title in app.env.titles.items()}
    return own | listed


def _settings(app: Sphinx) -> dict[str, Any]:
    file = Path(app.srcdir, "sidebar.toml")
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _prepare(app: Sphinx, env: object) -> None:
    """Read the map once, before the pages are written."""
    settings = _settings(app)
    root = app.config.root_doc
    order = [
        (page, part)
        for page, part in page_order(app)
        if page != root and part != LINKED_ONLY
    ]
    app.site_sidebar = (  # type: ignore[attr-defined]
        parts_of(order, settings.get("under", {})),
        short_titles(app, settings.get("titles", {})),
    )


def _add(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give the template of the sidebar its text; a file belongs to a page about it."""
    parts, titles = app.site_sidebar  # type: ignore[attr-defined]

    def address(name: str) -> str:
        return app.builder.get_relative_uri(pagename, name)

    shown = context.get("site_belongs_to", pagename)
    context["site_sidebar"] = sidebar(parts, titles, shown, address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the sidebar of each page when it is written."""
    app.connect("env-updated", _prepare)
    app.connect("html-page-context", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

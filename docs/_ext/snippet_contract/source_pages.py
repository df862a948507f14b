"""A page for every source file that a snippet comes from, so that "open file" works.

Explained in CONTRIBUTING.md, "Writing a chapter". The pages are `_files/<path>.html` of
the site, with the number and `id="line-N"` on every line, without the lines that are
markers of snippets. The lines that a page shows are highlighted. They need no network
and no repository host. The sidebar is that of the first page that shows the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from snippet_contract.header import FILE_PAGES
from snippet_contract.markers import MARKER, Snippet
from snippet_contract.snippet_use import index_of, used_snippets

LANGUAGES = {
    ".py": "python",
    ".h": "cpp",
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".c": "c",
    ".cmake": "cmake",
    ".txt": "cmake",
    ".toml": "toml",
    ".sh": "bash",
}


LINE = re.compile(
    r'<span id="line-(\d+)">(.*?\n?)</span>(?=<span id="line-|</pre>)', re.DOTALL
)


def with_numbers(html: str, text: str, snippets: Iterable[Snippet]) -> str:
    """The highlighted file without markers, with numbers, and with what is shown."""
    lines = text.splitlines()
    shown = {number for snippet in snippets for number in snippet.lines}

    def line(found: re.Match[str]) -> str:
        number = int(found[1])
        if number <= len(lines) and MARKER.fullmatch(lines[number - 1]):
            return ""
        kind = "file-line shown" if number in shown else "file-line"
        opening = f'<span id="line-{number}" class="{kind}" data-line="{number}">'
        return f"{opening}{found[2]}</span>"

    return LINE.sub(line, html)


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    if not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    index = index_of(app.env)
    used_names = set().union(*used_snippets(app.env).values())
    pages: dict[str, list[str]] = {}  # that show a part of the file
    for page, used in sorted(used_snippets(app.env).items()):
        for path in {path for path, _ in used if path in index.snippets}:
            pages.setdefault(path, []).append(page)
    for path in sorted(pages):
        text = Path(index.root, path).read_text(encoding="utf-8")
        code = app.builder.highlighter.highlight_block(
            text,
            LANGUAGES.get(Path(path).suffix, "text"),
            force=True,
            linespans="line",
        )
        found = index.snippets[path].values()
        shown = [snippet for snippet in found if (path, snippet.name) in used_names]
        code = with_numbers(code, text, shown)
        title, name = escape(path), f"{FILE_PAGES}/{path}"
        links = ", ".join(_link(app, name, page) for page in pages[path])
        body = (
            f"<h1>{title}</h1>\n<p>The highlighted lines are shown in {links}.</p>\n"
            f'<div class="snippet-whole-file">{code}</div>'
        )
        context = {"title": title, "body": body, "site_belongs_to": pages[path][0]}
        yield name, context, "page.html"


def _link(app: Sphinx, name: str, page: str) -> str:
    address = escape(app.builder.get_relative_uri(name, page))
    return f'<a href="{address}">{escape(app.env.titles[page].astext())}</a>'


def setup(app: Sphinx) -> None:
    app.connect("html-collect-pages", _pages)

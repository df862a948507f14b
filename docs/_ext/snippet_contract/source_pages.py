"""A page for every source file that a snippet comes from, so that "open file" works.

Explained in CONTRIBUTING.md, "Writing a chapter". The pages are `_files/<path>.html` of
the site, with `id="line-N"` on every line; they need no network and no repository host.
Each names the guide's pages that show it, instead of all chapters in a sidebar.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from snippet_contract.header import FILE_PAGES
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


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    if not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    index = index_of(app.env)
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
        title, name = escape(path), f"{FILE_PAGES}/{path}"
        links = ", ".join(_link(app, name, page) for page in pages[path])
        body = (
            f"<h1>{title}</h1>\n<p>Parts of this file are shown in {links}.</p>\n"
            f'<div class="snippet-whole-file">{code}</div>'
        )
        yield name, {"title": title, "body": body, "sidebars": []}, "page.html"


def _link(app: Sphinx, name: str, page: str) -> str:
    address = escape(app.builder.get_relative_uri(name, page))
    return f'<a href="{address}">{escape(app.env.titles[page].astext())}</a>'


def setup(app: Sphinx) -> None:
    app.connect("html-collect-pages", _pages)

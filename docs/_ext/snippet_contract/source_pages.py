"""A page for every source file that a snippet comes from, so that "open file" works.

Explained in CONTRIBUTING.md, "Writing a chapter". The pages are `_files/<path>.html` of
the site, with `id="line-N"` on every line; they need no network and no repository host.
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
    shown = set().union(*used_snippets(app.env).values())
    for path in sorted({path for path, _ in shown if path in index.snippets}):
        text = Path(index.root, path).read_text(encoding="utf-8")
        code = app.builder.highlighter.highlight_block(
            text,
            LANGUAGES.get(Path(path).suffix, "text"),
            force=True,
            linespans="line",
        )
        title = escape(path)
        body = f'<h1>{title}</h1>\n<div class="snippet-whole-file">{code}</div>'
        yield f"{FILE_PAGES}/{path}", {"title": title, "body": body}, "page.html"


def setup(app: Sphinx) -> None:
    app.connect("html-collect-pages", _pages)

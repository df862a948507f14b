"""The small line above a block that says where its text comes from.

Explained in CONTRIBUTING.md, "Writing a chapter". Rendered as a caption; the path of a
snippet links to a page with its whole file and names that file in the attribute
`data-open-file`. The block and its header stand in one `div.snippet`.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

FILE_PAGES = "_files"


class snippet_header(nodes.General, nodes.TextElement):
    """The line above a block; `label` is its class in the page."""


class file_link(nodes.Inline, nodes.TextElement):
    """Path of the file a snippet comes from; `line` is that of its START marker."""


def captioned(
    block: nodes.literal_block, text: str, *, file: str = "", line: int = 0
) -> nodes.container:
    """A block below a caption: the path of its file, then `text`."""
    header = snippet_header(label="code-block-caption")
    if file:
        header += file_link("", "", nodes.literal(file, file), file=file, line=line)
    if file and text:
        header += nodes.Text(" ")
    header += nodes.Text(text)
    classes = ["literal-block-wrapper", "snippet"]
    return nodes.container("", header, block, classes=classes)


def labeled(block: nodes.literal_block, text: str) -> nodes.container:
    """A block that did not run, below the label that says so."""
    header = snippet_header(text, text, label="illustrative-label")
    return nodes.container("", header, block, classes=["illustrative", "snippet"])


def _visit_header(self: HTML5Translator, node: snippet_header) -> None:
    text = '<span class="caption-text">'
    self.body.append(f'<div class="{node["label"]} snippet-header">{text}')


def _depart_header(self: HTML5Translator, node: snippet_header) -> None:
    self.body.append("</span></div>\n")


def _visit_link(self: HTML5Translator, node: file_link) -> None:
    page = self.builder.current_docname
    target = self.builder.get_relative_uri(page, f"{FILE_PAGES}/{node['file']}")
    link = escape(f"{target}#line-{node['line']}", quote=True)
    file = escape(node["file"], quote=True)
    self.body.append(f'<a class="snippet-path" data-open-file="{file}" href="{link}">')


def _depart_link(self: HTML5Translator, node: file_link) -> None:
    self.body.append("</a>")


def _skip(self: nodes.NodeVisitor, node: nodes.Node) -> None:
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    skip = (_skip, None)
    others: Any = {"text": skip, "latex": skip, "man": skip, "texinfo": skip}
    app.add_node(snippet_header, html=(_visit_header, _depart_header), **others)
    app.add_node(file_link, html=(_visit_link, _depart_link), **others)

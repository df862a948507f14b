# `{whole-files}`: the files whose snippets a page shows, each as a whole, folded.
"""A page that promises every line shows snippets between its sentences, and below them

    ```{whole-files}
    ```

the files that they come from, in the order of the page. A reader opens one to see what
is between the snippets. The lines that are markers are left out. A longer file
than `LONGEST` needs another page, or is two files.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from docutils import nodes
from snippet_contract.markers import MARKER
from snippet_contract.snippet_use import index_of
from snippet_contract.source_pages import LANGUAGES
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

LONGEST = 180  # lines


class whole_file(nodes.General, nodes.Element):
    """A file that is folded; named as docutils names nodes."""


def lines_of(text: str) -> list[str]:
    """The file without its markers."""
    return [line for line in text.splitlines() if not MARKER.fullmatch(line)]


class WholeFiles(SphinxDirective):
    """``{whole-files}``, below the snippets of a page."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """Insert the files of all snippets above."""
        blocks = self.state.document.findall(nodes.literal_block)
        paths = dict.fromkeys(
            block["snippet"][0] for block in blocks if "snippet" in block
        )
        if not paths:
            raise ExtensionError(f"{self.env.docname}: no snippet is above whole-files")
        return [self._file(path) for path in paths]

    def _file(self, path: str) -> nodes.Node:
        file = Path(index_of(self.env).root, path)
        self.env.note_dependency(str(file))
        lines = lines_of(file.read_text(encoding="utf-8"))
        if len(lines) > LONGEST:
            raise ExtensionError(
                f"{path} has {len(lines)} lines; whole files have at most {LONGEST}"
            )
        text = "\n".join(lines)
        block = nodes.literal_block(text, text)
        block["language"] = LANGUAGES.get(file.suffix, "text")
        block["contract"] = "whole"
        self.set_source_info(block)
        return whole_file("", block, file=path, lines=len(lines))


def _visit(self: HTML5Translator, node: whole_file) -> None:
    title = f"<code>{escape(node['file'])}</code>, {node['lines']} lines"
    self.body.append(f'<details class="whole-file"><summary>{title}</summary>\n')


def _depart(self: HTML5Translator, node: whole_file) -> None:
    self.body.append("</details>\n")


def _pass(self: nodes.NodeVisitor, node: nodes.Node) -> None:
    """Other builders show the text alone."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_node(whole_file, html=(_visit, _depart), text=(_pass, _pass))
    app.add_directive("whole-files", WholeFiles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

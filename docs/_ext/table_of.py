# `{table-of} FILE`: the table of a file of the sources; see docs/start/architecture.md.
"""A table that developers read in the sources, and readers of the guide on a page.

    ```{table-of} ../../openreg/csrc/README.md
    ```

The file has one table in Markdown, without links: the page shows it as it is.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

TABLE = re.compile(r"^\|.+\|\n\|[-:| ]+\|\n(?:\|.+\|\n)+", re.MULTILINE)


def table_of(text: str, name: str) -> str:
    """Return the only table of a text."""
    found = TABLE.findall(text)
    if len(found) != 1 or "](" in found[0]:
        raise ExtensionError(f"{name}: there must be one table, and no link in it")
    return str(found[0])


class TableOf(SphinxDirective):
    """``{table-of} file``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Insert the table of the file."""
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        text = Path(path).read_text("utf-8")
        return self.parse_text_to_nodes(table_of(text, self.arguments[0]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("table-of", TableOf)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

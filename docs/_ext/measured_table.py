# `{measured-table}`: runs a benchmark, shows its table; see docs/ship/performance.md.
"""A table of times that were measured in the same build, so that none is committed.

    ```{measured-table} ../../openreg/benchmarks/budget.py stations
    ```

The program prints a table in Markdown. Words after its name are its arguments.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from trace_picture import run_program


def checked(text: str, program: Path) -> str:
    """Return what a benchmark printed, or raise where it is no table."""
    rows = text.strip().splitlines()
    if len(rows) < 3 or not all(row.startswith("|") for row in rows):
        raise ExtensionError(
            f"{program} printed no table in Markdown, a header and rows: {text[:80]!r}"
        )
    return text.strip()


class MeasuredTable(SphinxDirective):
    """``{measured-table} program arguments``."""

    required_arguments = 1
    optional_arguments = 3
    has_content = False

    def run(self) -> list[nodes.Node]:
        """Insert the table that the program prints now."""
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        text = run_program(Path(path), *self.arguments[1:])
        return self.parse_text_to_nodes(checked(text, Path(path)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("measured-table", MeasuredTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

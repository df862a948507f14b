# `{measured-table}`: shows a table of recorded times; see docs/ship/performance.md.
"""A table of times that were measured once, on a quiet machine, with where and when.

    ```{measured-table} ../../openreg/benchmarks/last_run.json stations
    ```

A benchmark wrote the file. A build measures nothing: it would show what the machine of
the build was busy with.
"""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


def recorded(path: Path, name: str) -> str:
    """Return a recorded table in Markdown, and below it what measured it."""
    run = json.loads(path.read_text(encoding="utf-8"))
    rows = run["tables"].get(name, [])
    if len(rows) < 3 or not all(row.startswith("|") for row in rows):
        raise ExtensionError(f"{path} has no table {name!r}, a header and rows")
    source = (
        f"Recorded on {run['date']} at commit `{run['commit']}`, with torch "
        f"{run['torch']}, on {run['machine']}."
    )
    return "\n".join([*rows, "", source])


class MeasuredTable(SphinxDirective):
    """``{measured-table} file name``."""

    required_arguments = 2
    has_content = False

    def run(self) -> list[nodes.Node]:
        """Insert the table of the file."""
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        return self.parse_text_to_nodes(recorded(Path(path), self.arguments[1]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("measured-table", MeasuredTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

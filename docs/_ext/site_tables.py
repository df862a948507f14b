# Lets tables fit every screen: labels for stacked rows, and a class for each width.
"""On a narrow screen the rows of a table become cards, see docs/_static/tables.css.

A card shows the head of the column beside each cell, from the attribute ``data-label``.
A table of a few short cells fits a phone and stays as it is (class ``short``). A table
of many columns becomes cards earlier than others (class ``many``). The roles keep a
table a table for screen readers where CSS lays its rows out in another way.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead>.*?</thead>", re.DOTALL)
CELL = re.compile(r"<(t[hd])\b([^>]*)>(.*?)</\1>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
CODE = re.compile(r"(<code\b[^>]*>)(.*?)(?=</code>)", re.DOTALL)
PIECE = re.compile(r"<[^>]+>|&\w+;|[^<&]+")
# Where a name may continue on the next line.
JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.:/(,=-])(?=\w)")
ROLES = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row"}
PHONE = 34  # letters of all columns together that a phone shows
MANY = 6  # columns


def text_of(html: str) -> str:
    """What a reader sees of a cell, on one line."""
    return " ".join(unescape(TAG.sub("", html)).split())


def breakable(html: str) -> str:
    """The code of a cell, which may break between the words of its names."""

    def pieces(found: re.Match[str]) -> str:
        parts = PIECE.findall(found[2])
        return found[1] + "".join(
            part if part[0] in "<&" else JOINT.sub("<wbr>", part) for part in parts
        )

    return CODE.sub(pieces, html)


def label(table: str) -> str:
    """One table with its labels, classes and roles."""
    head = HEAD.search(table)
    heads = [text_of(cell[2]) for cell in CELL.findall(head[0])] if head else []
    body = table[head.end() :] if head else table
    rows = [
        [text_of(cell[2]) for cell in CELL.findall(row)] for row in ROW.findall(body)
    ]

    def labeled(row: re.Match[str]) -> str:
        names = iter(heads)

        def cell(found: re.Match[str]) -> str:
            name = escape(next(names, ""))
            given = f' data-label="{name}"' if name else ""
            role = "rowheader" if found[1] == "th" else "cell"
            inner = breakable(found[3]) if found[3].strip() else ""
            return f'<{found[1]}{found[2]}{given} role="{role}">{inner}</{found[1]}>'

        return CELL.sub(cell, row[0])

    top = table[: len(table) - len(body)]
    top = re.sub(r"<th\b", '<th role="columnheader"', top)
    table = top + ROW.sub(labeled, body)
    for tag, role in ROLES.items():
        table = re.sub(rf"<{tag}\b", f'<{tag} role="{role}"', table)
    return add_class(table, width_class([heads, *rows]))


def width_class(rows: list[list[str]]) -> str:
    """How much room the columns need: short, many, or the usual."""
    columns = max(map(len, rows), default=0)
    widest = [
        max((len(r[i]) for r in rows if i < len(r)), default=0) for i in range(columns)
    ]
    if sum(widest) + 2 * columns <= PHONE:
        return "short"
    return "many" if columns >= MANY else ""


def add_class(table: str, name: str) -> str:
    """The table with one more class."""
    opening = table[: table.index(">")]
    if not name:
        return table
    if 'class="' in opening:
        return table.replace('class="', f'class="{name} ', 1)
    return table.replace("<table", f'<table class="{name}"', 1)


def _label(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if doctree is not None and "body" in context:
        context["body"] = TABLE.sub(lambda found: label(found[0]), context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Change the tables of each page when it is written."""
    app.connect("html-page-context", _label, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

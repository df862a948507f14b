# Writes docs/reference/error-index.md and _errors.json; see docs/ship/debugging.md.
"""Collects what the pages say about errors; run it to write both files.

python openreg/tests/tools/error_index.py

A row comes from a table in a section "What goes wrong", from a section of the known
gaps, or from the starter without a piece.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tested_messages import find_test

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGE = DOCS / "reference/error-index.md"
KNOCKOUTS = DOCS / "reference/starter-knockouts.md"
DATA = ROOT / "openreg/torch_openreg_diagnose/_errors.json"
FIRST_CELLS = {"you read", "you read or see", "you see", "what you see", "what happens"}
RAISED = re.compile(
    r"^(?:(?:\w+\.)*\w*(?:Error|Exception): .{12,}|terminate called .+)", re.MULTILINE
)
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
HEAD = """\
# Error index

This page collects what the guide says about errors. Search it for the text of your
error, or let a command search it:
`python -m torch_openreg_diagnose --explain "the message"`, see
[debugging](../ship/debugging.md). `openreg/tests/tools/error_index.py` collects the
rows from the pages, and a test compares this page with them. `...` matches any text.

A reason that starts with "missing:" names the piece that your backend lacks. "Tested
in" names a file of `openreg/tests` that expects this message. The last table shows the
errors of a small backend without one of its pieces; `nox -s ladder -- knockouts` tests
it.
"""
MISSING = "the missing piece"  # the head of a column

Row = dict[str, str]


def cells(line: str) -> list[str]:
    """The cells of a line of a table; a bar between backticks is text."""
    text = re.sub(r"`[^`]*`", lambda m: m[0].replace("|", "\0"), line.strip())
    return [cell.strip().replace("\0", "|") for cell in text.strip("|").split("|")]


def anchor(title: str) -> str:
    """The anchor of a heading, as MyST makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Headings of the second level, and what stands below them."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        yield title.strip(), body


def tables(body: str) -> Iterator[list[list[str]]]:
    for block in re.findall(r"(?:^\|.*\n)+", body + "\n", re.MULTILINE):
        yield [cells(line) for line in block.splitlines()]


def rows_of_page(path: Path) -> Iterator[Row]:
    """The rows of the tables about errors."""
    text = path.read_text()
    page = path.relative_to(DOCS).as_posix()
    for title, body in sections(text):
        if title not in ("What goes wrong", "Errors while loading"):
            continue
        for head, _, *lines in tables(body):
            if head[0].lower() not in FIRST_CELLS:
                continue
            for line in lines:
                why = "; ".join(cell for cell in line[1:] if cell)
                if head[1].lower() == MISSING and not why.startswith("nothing"):
                    why = f"missing: {why}"
                yield row(line[0], why, page, anchor(title))


def rows_of_gaps(path: Path) -> Iterator[Row]:
    """Each gap: the errors in its examples, or else its title."""
    page = path.relative_to(DOCS).as_posix()
    for title, body in sections(path.read_text()):
        told = re.findall(r"^\* \*\*(\w+):\*\* (.+(?:\n  .+)*)", body, re.MULTILINE)
        parts = {name: re.sub(r"\s+", " ", text) for name, text in told}
        if "Workaround" not in parts:
            continue
        why = f"a gap of torch: {title}. Workaround: {parts['Workaround']}"
        errors = [f"`{error.replace('`', '')}`" for error in RAISED.findall(body)]
        for seen in dict.fromkeys(errors or [title]):
            yield row(seen, why, page, anchor(title))


def rows_of_knockouts() -> Iterator[Row]:
    """What the starter says without a piece."""
    page = KNOCKOUTS.relative_to(DOCS).as_posix()
    for title, body in sections(KNOCKOUTS.read_text()):
        for _, _, *lines in tables(body):
            for piece, programs, error in lines:
                if "Error: " in error or "Warning: " in error:
                    part = "" if piece.startswith("the ") else f" of {title.lower()}"
                    why = f"missing: {piece}{part} ({programs})"
                    yield row(error, why, page, anchor(title))


def row(seen: str, why: str, page: str, where: str) -> Row:
    link = f"{page}#{where}" if where else page
    return {"seen": seen, "why": resolved(why, page), "page": link}


def resolved(text: str, page: str) -> str:
    """The text with its links as the pages of the reference write them."""

    def relative(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target:
            return match[0]
        if target.startswith("#"):
            return f"[{match[1]}](../{page}{target})"
        folder = (DOCS / page).parent
        file, _, fragment = target.partition("#")
        path = (folder / file).resolve().relative_to(DOCS.resolve())
        return f"[{match[1]}](../{path}{'#' + fragment if fragment else ''})"

    return LINK.sub(relative, text)


def collect() -> list[Row]:
    """All rows, those of one page together."""
    found: list[Row] = []
    for path in sorted(DOCS.glob("[!_]*/*.md")):
        if path.parent.name == "reference":
            continue
        found += rows_of_page(path)
    for path in sorted(DOCS.glob("ship/known-*.md")):
        found += rows_of_gaps(path)
    found += rows_of_knockouts()
    return [dict(pairs) for pairs in dict.fromkeys(tuple(r.items()) for r in found)]


def data(rows: list[Row]) -> str:
    """The rows as JSON, with titles of pages instead of links, one on a line."""
    plain = [
        {**r, "why": LINK.sub(r"\1", r["why"]), "title": title_of(r)} for r in rows
    ]
    return "[\n" + ",\n".join(json.dumps(r) for r in plain) + "\n]\n"


def title_of(row: Row) -> str:
    """The title of the page; users of the wheel have no folder of pages."""
    head, _, _ = (DOCS / row["page"].partition("#")[0]).read_text().partition("\n")
    return head.removeprefix("# ")


def page(rows: list[Row]) -> str:
    """Return the text of the page."""
    pieces = [r for r in rows if r["page"].startswith("reference/")]
    others = [r for r in rows if r not in pieces]
    messages = [r for r in others if "`" in r["seen"]]
    symptoms = [r for r in others if "`" not in r["seen"]]
    parts = [HEAD]
    for title, chosen in (
        ("With a message", messages),
        ("Without a message", symptoms),
        ("A backend without one piece", pieces),
    ):
        ordered = sorted(chosen, key=lambda r: r["seen"].strip("`. ").lower())
        lines = ["| you see | reason, or what helps | page |", "|---|---|---|"]
        lines += [
            f"| {r['seen']} | {r['why']}{tested(r)} | [{name(r)}](../{r['page']}) |"
            for r in ordered
        ]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def tested(row: Row) -> str:
    test = Path(find_test(row["seen"], row["page"])).name
    stop = "" if row["why"].endswith(".") else "."
    return f"{stop} Tested in `{test}`" if test else ""


def name(row: Row) -> str:
    return Path(row["page"].partition("#")[0]).stem.replace("-", " ")


if __name__ == "__main__":
    found = collect()
    PAGE.write_text(page(found))
    DATA.write_text(data(found))

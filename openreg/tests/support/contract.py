# Reads torch's interfaces, a page's table and a trace; see docs/runtime/guard.md.
"""What a page says of an interface, what the header says, and what torch does."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from backend import LARGE

DOCS = Path(__file__).resolve().parents[3] / "docs"
CSRC = Path(__file__).resolve().parents[2] / "csrc"
STARTER = CSRC.with_name("starter") / "csrc"
INCLUDE = Path(torch.__file__).parent / "include"
MEMBER = re.compile(
    r"(?P<virtual>virtual )?[\w:&* ]+?[ &*](?P<name>\w+)\((?P<parameters>[^()]*)\)"
    r"(?P<end>[\w ]*)(?P<body>= 0;|\{)"
)


def virtuals(header: str, start: str) -> dict[str, str]:
    """Return each virtual member after the text ``start``: its name and its kind.

    The kind is ``pure``, ``throws``, ``does nothing``, or ``returns`` with a value;
    with ``, noexcept`` where the header says so.
    """
    text = (INCLUDE / header).read_text()
    text = re.sub(
        r"/\*.*?\*/|//[^\n]*|#define[^\n]*(?:\\\n[^\n]*)*", "", text, flags=re.S
    )
    text = text[text.index(start) :].replace("= {}", "")
    found = {}
    at = text.index("{") + 1
    depth = 1
    while depth:
        stop = next(i for i in range(at, len(text)) if text[i] in ";{}")
        match = MEMBER.search(_plain(text[at : stop + 1]))
        body = ""
        if text[stop] == "{":
            level, end = 1, stop + 1
            while level:
                level += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            body, at = text[stop + 1 : end - 1], end
        elif text[stop] == "}":
            depth, at = depth - 1, stop + 1
            continue
        else:
            at = stop + 1
        if match and (match["virtual"] or " override" in match["end"]):
            kind = _kind(match["body"], body)
            noexcept = ", noexcept" if "noexcept" in match["end"] else ""
            found[match["name"]] = kind + noexcept
    return found


def _plain(declaration: str) -> str:
    """Return a declaration without template arguments and calls in its parameters."""
    text = " ".join(declaration.split())
    nested = re.compile(r"<[^<>]*>|(?<=\()([^()]*)\([^()]*\)")
    while (less := nested.sub(lambda found: found[1] or "", text)) != text:
        text = less
    return text


def _kind(end: str, body: str) -> str:
    if end == "= 0;":
        return "pure"
    if re.search("TORCH_CHECK|TORCH_INTERNAL_ASSERT|FAIL_", body):
        return "throws"
    value = re.search(r"return (.*?);", body)
    return f"returns {value[1]}" if value else "does nothing"


def table(page: str, first: str) -> list[list[str]]:
    """Return the rows of the table of a page whose head begins with ``first``."""
    lines = (DOCS / page).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("| ").split(" | ")])
    return rows


def wrong_needs(rows: list[list[str]], callers: int, starter: str) -> list[str]:
    """Return what is wrong in the last column of a table of members.

    Args:
        callers: the column that names who calls a member.
        starter: the file of the small backend that overrides some of them.
    """
    assert {"now", "never"} < {row[-1] for row in rows}
    (path,) = (STARTER / "runtime").rglob(starter)
    found = [wrong_need(code(row[0])[0], row[-1], row[callers], path) for row in rows]
    return [fault for fault in found if fault]


def wrong_need(member: str, cell: str, callers: str, starter: Path) -> str:
    """Return what is wrong with the cell that says when a backend needs a member.

    ``now`` is what the small backend overrides, ``never`` what no call was seen to
    reach. Anything else is ``later``: for a chapter that names the member, or for the
    stage that brings the hooks and the guard of the large backend.
    """
    overrides = r"\b(\w+)\([^()]*\)\s+const (?:noexcept )?override"
    if member in re.findall(overrides, starter.read_text()):
        expected = "now"
    elif callers == "-":
        expected = "never"
    else:
        link = re.fullmatch(r"later: \[[^\]]+\]\(([^)#]+)(?:#[^)]+)?\)", cell)
        if link is None:
            expected = f"later: stage {LARGE}"
        else:
            page = DOCS / "runtime" / link[1]
            named = re.search(rf"`[\w:]*\b{member}\b[^`]*`", page.read_text())
            return "" if named else f"{member}: {link[1]} does not name it"
    return "" if cell == expected else f"{member}: {expected}, not {cell}"


def code(cell: str) -> list[str]:
    """Return what stands in backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)


ACTIONS = (ast.Call, ast.Delete, ast.Subscript, ast.With)
# What else a traced line may consist of: names, constants and their syntax.
PARTS = (ast.Attribute, ast.Constant, ast.Expr, ast.Module, ast.Name, ast.Pass)
PARTS += (ast.expr_context, ast.keyword, ast.withitem)


def action(line: str) -> str:
    """Return the name of the one action of a line, as a table calls it.

    Raises:
        ValueError: the line does more than one thing. What it needs must exist before
            the trace begins, or the trace also shows how it was made.
    """
    tree = ast.parse(line)
    nodes = list(ast.walk(tree))
    actions = [node for node in nodes if isinstance(node, ACTIONS)]
    (statement, *more) = tree.body
    lookup = isinstance(statement, ast.Expr) and isinstance(
        statement.value, ast.Attribute
    )
    others = [node for node in nodes if not isinstance(node, (*ACTIONS, *PARTS))]
    if more or others or len(actions) != (0 if lookup else 1):
        raise ValueError(f"not one action with what was prepared: {line}")
    if isinstance(statement, ast.With):
        return line.partition(":")[0]
    if actions and isinstance(actions[0], ast.Call):
        return ast.unparse(actions[0].func).removeprefix("torch.accelerator.")
    return line


class Trace:
    """What torch calls while one line runs; from ``openreg/tests/cpp/trace.cpp``."""

    def __init__(self, library: Path) -> None:
        torch.ops.load_library(library)
        self.ops = torch.ops.openreg_trace
        self.ops.start()  # puts the layer in place
        self.ops.stop()

    def __call__(
        self, line: str, names: dict[str, Any] | None = None
    ) -> list[tuple[str, str, str]]:
        """Run a line of one action in the scope ``names``, which was prepared before.

        Returns:
            (member, ``gil`` or ``-``, name of the thread) for each call.
        """
        action(line)
        names = {} if names is None else names
        names["torch"] = torch
        kind = "eval" if isinstance(ast.parse(line).body[0], ast.Expr) else "exec"
        program = compile(line, "traced line", kind)
        self.ops.take()
        self.ops.start()
        try:
            result = eval(program, names)
        finally:
            self.ops.stop()
        del result
        return [tuple(line.split(" ", 2)) for line in self.ops.take()]


def members(calls: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the members in the order of their first calls."""
    return list(dict.fromkeys(member for member, _, _ in calls))

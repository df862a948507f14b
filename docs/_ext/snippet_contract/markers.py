"""Reads the START and END markers of a source file, by whole line and exact name.

Explained in CONTRIBUTING.md, "Writing a chapter". A snippet is what stands between two
comment lines of their own, `// LITERALINCLUDE START: NAME` and `END` (`#` in Python,
CMake, TOML and shell). NAME is made of A-Z, 0-9 and _. Needs only the standard library.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from itertools import pairwise

from snippet_contract.examples import Problem

MARKER = re.compile(r"\s*(?://|#)\s*LITERALINCLUDE (START|END): ([A-Z0-9_]+)\s*")
LOOKS_LIKE_MARKER = re.compile(r"LITERALINCLUDE\s*[_:-]?\s*(START|END)")


@dataclass(frozen=True)
class Snippet:
    """A marked region; `start` and `end` are the lines of its markers, from 1."""

    name: str
    start: int
    end: int
    text: str

    @property
    def lines(self) -> range:
        return range(self.start + 1, self.end)


def find_snippets(text: str) -> tuple[dict[str, Snippet], list[Problem]]:
    """Snippets of one file by name, and what is wrong with its markers."""
    lines = text.splitlines()
    starts: dict[str, int] = {}
    ends: dict[str, int] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        match = MARKER.fullmatch(line)
        if match is None:
            if LOOKS_LIKE_MARKER.search(line):
                problems.append(Problem(number, _malformed(line)))
            continue
        seen = starts if match[1] == "START" else ends
        if match[2] in seen:
            first = seen[match[2]]
            message = (
                f"marker {match[1]}: {match[2]} is already in line {first}. Give"
                " every snippet its own name."
            )
            problems.append(Problem(number, message))
        else:
            seen[match[2]] = number
    snippets = {}
    for name, start in starts.items():
        if name not in ends:
            problems.append(
                Problem(start, f"snippet {name} has no END marker. Add END: {name}.")
            )
        elif ends[name] < start:
            problems.append(
                Problem(ends[name], f"END: {name} stands above START: {name}.")
            )
        else:
            body = textwrap.dedent("\n".join(lines[start : ends[name] - 1]))
            snippets[name] = Snippet(name, start, ends[name], body.strip("\n"))
    problems += [
        Problem(number, f"END: {name} has no START marker. Add START: {name}.")
        for name, number in ends.items()
        if name not in starts
    ]
    problems += _crossings(list(snippets.values()))
    return snippets, sorted(problems)


def _malformed(line: str) -> str:
    return (
        f"{line.strip()!r} is not a marker: it must be a comment line of its own that"
        " reads 'LITERALINCLUDE START: NAME' or 'LITERALINCLUDE END: NAME', NAME made"
        " of A-Z, 0-9 and _."
    )


def _crossings(snippets: list[Snippet]) -> list[Problem]:
    problems = []
    snippets.sort(key=lambda snippet: snippet.start)
    for outer, inner in pairwise(snippets):
        if inner.start > outer.end:
            continue
        how = "inside" if inner.end < outer.end else "across the end of"
        problems.append(
            Problem(
                inner.start,
                f"snippet {inner.name} lies {how} snippet {outer.name}, so a page"
                " would print its markers. Put one after the other.",
            )
        )
    return problems

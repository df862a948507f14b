"""A fence of `diff` shows a change that the repository has.

Explained in CONTRIBUTING.md, "Writing a chapter". A line `+++ b/path` names the file.
Lines with `+` and lines without a mark are in it, lines with `-` are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

LONGEST = 12  # lines


def faults(text: str, root: Path) -> Iterator[str]:
    """What is wrong with one diff, as texts for its author."""
    shown = text.splitlines()
    if len(shown) > LONGEST:
        yield f"this diff has {len(shown)} lines, at most {LONGEST}: show less"
    name, there = None, None
    for line in shown:
        mark, code = line[:1], line[1:]
        if line.startswith("--- a/"):
            continue
        if line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/")
            file = (root / name).resolve()
            if not (file.is_relative_to(root.resolve()) and file.is_file()):
                yield f"{name} is not a file of this repository"
                return
            there = file.read_text(encoding="utf-8").splitlines()
        elif there is None:
            yield "name the file before its lines: '+++ b/<path>'"
            return
        elif mark not in ("+", "-", " "):
            yield f"begin this line with '+', '-' or a blank: {line!r}"
        elif (code in there) == (mark == "-"):
            state = "still in" if mark == "-" else "not in"
            yield f"this line is {state} {name}: {code.strip()!r}"

# Lists what a vendor decides, from comments; see docs/ship/make-it-yours.md.
"""A comment that starts with ``VENDOR:`` stands above each such place."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

VENDOR = re.compile(r"^ *(?://|#) VENDOR: (.+)$", re.MULTILINE)
KINDS = {".cpp", ".h", ".py", ".cmake", ".txt", ".toml"}
# In the order in which a backend is brought up; a path counts for its longest prefix.
# The starter has fewer folders, so some of its files count by their names.
SECTIONS = [
    ("Package and build", ["", "{package}", "cmake"]),
    (
        "Devices and errors",
        [
            "csrc/runtime/errors",
            "csrc/runtime/device",
            *("csrc/runtime/{title}Exception", "csrc/runtime/{title}Functions"),
            "csrc/runtime/{title}Hooks",
            "{package}/{name}/capabilities.py",
        ],
    ),
    ("Memory, streams and copies", ["csrc/runtime", "csrc/aten/ops/Copy.cpp"]),
    ("Operators", ["csrc/aten"]),
    (
        "Random numbers and mixed precision",
        ["csrc/runtime/random", "csrc/amp", "{package}/{name}/amp.py"],
    ),
    (
        "Graphs, profiler and compiler",
        [
            "csrc/runtime/graph",
            "csrc/profiler",
            "{package}/_inductor",
            "{package}/_dynamo.py",
        ],
    ),
    (
        "Several processes",
        ["csrc/runtime/ipc", "csrc/distributed", "{package}/{name}/_distributed.py"],
    ),
    ("What only a simulated device has", ["csrc/simulator", "{package}/csrc"]),
]


def decisions(root: Path) -> list[tuple[str, str]]:
    """Each file and what it leaves to the vendor, in the order of the files."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.suffix in KINDS:
            where = str(path.relative_to(root))
            text = path.read_text(encoding="utf-8")
            found += [(where, what) for what in VENDOR.findall(text)]
    return found


def section_of(path: str, name: str) -> str:
    """The section in which a decision of a file stands."""
    inside = path.removeprefix(f"{name}/")
    best, title = -1, ""
    for heading, prefixes in SECTIONS:
        for pattern in prefixes:
            prefix = pattern.format(
                package=f"torch_{name}", name=name, title=name.capitalize()
            )
            if inside.startswith(prefix) and len(prefix) > best:
                best, title = len(prefix), heading
    return title


def listed(root: Path, name: str) -> str:
    """All decisions below their headings, as numbered Markdown.

    A heading without a decision is left out.
    """
    every = decisions(root)
    lines, numbers = [], count(1)
    for heading, _ in SECTIONS:
        here = [one for one in every if section_of(one[0], name) == heading]
        if here:
            lines.append(f"\n### {heading}\n")
        for path, what in here:
            lines.append(f"{next(numbers)}. [`{path}`]({path}): {what}")
    return "\n".join(lines)

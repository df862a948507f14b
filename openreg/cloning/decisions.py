# Lists what a vendor decides, from comments; see docs/ship/make-it-yours.md.
"""A comment that starts with ``VENDOR:`` stands above each such place."""

from __future__ import annotations

import re
from pathlib import Path

VENDOR = re.compile(r"^ *(?://|#) VENDOR: (.+)$", re.MULTILINE)
# In the order in which a backend is brought up; a path counts for its longest prefix.
SECTIONS = [
    ("Package and build", ["", "{package}", "cmake"]),
    (
        "Devices and errors",
        [
            "csrc/runtime/errors",
            "csrc/runtime/device",
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
        if path.suffix in (".cpp", ".h", ".py", ".cmake", ".txt"):
            where = str(path.relative_to(root))
            found += [(where, what) for what in VENDOR.findall(path.read_text())]
    return found


def section_of(path: str, name: str) -> str:
    """The section in which a decision of a file stands."""
    inside = path.removeprefix(f"{name}/")
    best, title = -1, ""
    for heading, prefixes in SECTIONS:
        for pattern in prefixes:
            prefix = pattern.format(package=f"torch_{name}", name=name)
            if inside.startswith(prefix) and len(prefix) > best:
                best, title = len(prefix), heading
    return title


def listed(root: Path, name: str) -> str:
    """All decisions below their headings, as numbered Markdown."""
    every = decisions(root)
    lines, number = [], 0
    for heading, _ in SECTIONS:
        lines.append(f"\n### {heading}\n")
        for path, what in every:
            if section_of(path, name) == heading:
                number += 1
                lines.append(f"{number}. [`{path}`]({path}): {what}")
    return "\n".join(lines)

# Lists what a vendor decides, from comments; see docs/ship/make-it-yours.md.
"""A comment that starts with ``VENDOR:`` marks each such place."""

from __future__ import annotations

import re
from itertools import count
from pathlib import PurePath

VENDOR = re.compile(r"^ *(?://|#) VENDOR: (.+)$", re.MULTILINE)
KINDS = {".cpp", ".h", ".py", ".cmake", ".txt", ".toml"}
# In the order in which a backend is brought up; a path counts for its longest prefix.
SECTIONS = [
    ("Package and build", ["", "{package}", "cmake"]),
    (
        "Devices and errors",
        [
            "csrc/runtime/errors",
            "csrc/runtime/device",
            "csrc/runtime/interface",
            "{package}/{name}/capabilities.py",
        ],
    ),
    ("Memory, streams and copies", ["csrc/runtime", "csrc/aten/ops/Copy.cpp"]),
    ("Operators", ["csrc/aten", "csrc/kernels"]),
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
]


def decisions(texts: dict[str, str]) -> list[tuple[str, str]]:
    """Each file and what it leaves to the vendor, in the order of the files.

    Args:
        texts: of the files of a copy, by their paths.
    """
    return [
        (path, what)
        for path, text in sorted(texts.items())
        if PurePath(path).suffix in KINDS
        for what in VENDOR.findall(text)
    ]


def section_of(path: str, name: str) -> str:
    """The section that lists the decisions of a file."""
    best, title = -1, ""
    for heading, prefixes in SECTIONS:
        for pattern in prefixes:
            prefix = pattern.format(package=f"torch_{name}", name=name)
            if path.startswith(prefix) and len(prefix) > best:
                best, title = len(prefix), heading
    return title


def listed(texts: dict[str, str], name: str) -> str:
    """All decisions below their headings, as numbered Markdown.

    A heading without a decision is left out.
    """
    every = decisions(texts)
    lines, numbers = [], count(1)
    for heading, _ in SECTIONS:
        here = [one for one in every if section_of(one[0], name) == heading]
        if here:
            lines.append(f"\n### {heading}\n")
        for path, what in here:
            lines.append(f"{next(numbers)}. [`{path}`]({path}): {what}")
    return "\n".join(lines)

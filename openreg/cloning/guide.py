# Writes the CLONING.md of a copy; see docs/ship/make-it-yours.md.
"""How to build and test the copy, what has which name, and what the vendor decides."""

from __future__ import annotations

from cloning.decisions import listed
from cloning.spelling import SIMULATED, Spelling
from cloning.stages import FIRST

CLONING = """\
# A PyTorch backend for the device `{name}`

`import torch` loads the package `torch_{name}`: `torch.device("{name}")` is a device.

    pip install --no-build-isolation .
    python -P -c 'import torch; print(torch.ones(2, device="{name}"))'
    python -P -m pytest

You write two folders: `third_party/{driver}`, {what_driver}, and
`csrc/kernels`, with a file for each group of operators that the device computes itself.
The other files come again with the next stage and with the next release, so edit them
only where you must.

| what | its name here |
|---|---|
{names}

## Decisions

A comment `VENDOR:` marks each place where your device decides. Delete the comment when
you have decided.
{decisions}
"""
ROWS = [
    ("device, module, entry point", "`{name}`, `torch.{name}`, `torch_{name}`"),
    ("namespace, classes, macros", "`{name}`, `{title}Guard`, `{upper}_CHECK`"),
]
OF_STARTER = [
    ("libraries", "`libtorch_{name}.so`, `lib{name}_bindings.so`"),
    ("counts of the fallback", "`torch.ops.{name}.fallback_counts()`"),
    ("driver", "`<{driver}.h>`, `lib{driver}.so`, functions `or...`"),
]
OF_FULL = [
    ("libraries, CMake package", "`libtorch_{name}.so`, `torch_{name}`"),
    ("environment variable", "`{upper}_FALLBACK`"),
    (
        "key of graphs, setting of the allocator",
        "`{upper}`, `{name}_memory_fraction`",
    ),
    ("communication backend", "`{name}ccl`, class `ProcessGroup{upper}CCL`"),
    ("driver", "`<{driver}.h>`, `lib{driver}.so`, functions `or...` and `occl...`"),
]


def guide(spelling: Spelling, stage: int, texts: dict[str, str]) -> str:
    """The text for a copy.

    Args:
        stage: of the ladder.
        texts: of its other files, by their paths.
    """
    title, upper = spelling.name.capitalize(), spelling.name.upper()
    known = {"name": spelling.name, "driver": spelling.driver}
    names = ROWS + (OF_FULL if stage >= FIRST else OF_STARTER)
    rows = "\n".join(f"| {what} | {name} |" for what, name in names)
    simulated = spelling.driver == SIMULATED
    return CLONING.format(
        **known,
        what_driver="here a simulation" if simulated else "here without its functions",
        names=rows.format(**known, title=title, upper=upper),
        decisions=listed(texts, spelling.name),
    )

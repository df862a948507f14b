# Writes the CLONING.md of a copy; see docs/ship/make-it-yours.md.
"""How to build and test the copy, what has which name, and what the vendor decides."""

from __future__ import annotations

from pathlib import Path

from cloning.decisions import listed
from cloning.spelling import Spelling

ARGUMENTS = "   # CMAKE_ARGS=-DDRIVER_ROOT=... names the driver"
NAMES = [
    ("device, module, entry point", "`{name}`, `torch.{name}`, `torch_{name}`"),
    ("namespace, classes, macros", "`{name}`, `{title}Guard`, `{upper}_CHECK`"),
]
CLONING = """\
# A PyTorch backend for the device `{name}`

`import torch` loads the package `torch_{name}`: `torch.device("{name}")` is a device.

    pip install --no-build-isolation .{arguments}
    python{option} -c 'import torch; print(torch.ones(2, device="{name}"))'
    pytest

| what | its name here |
|---|---|
{names}

## Decisions

A comment `VENDOR:` marks each place where your device decides. Delete the comment when
you have decided.
{decisions}
"""


def guide(
    root: Path,
    spelling: Spelling,
    names: list[tuple[str, str]],
    arguments: str = "",
    option: str = "",
) -> str:
    """The text for a copy.

    Args:
        root: the folder of the copy, where its other files are already.
        names: rows that follow those of every copy.
        arguments: behind the command that builds it.
        option: of Python, in the command that uses it.
    """
    title, upper = spelling.name.capitalize(), spelling.name.upper()
    known = {"name": spelling.name, "title": title, "upper": upper}
    rows = [f"| {what} | {name} |" for what, name in NAMES + names]
    return CLONING.format(
        **known,
        arguments=arguments,
        option=option,
        names="\n".join(rows).format(**known, driver=spelling.driver),
        decisions=listed(root, spelling.name),
    )

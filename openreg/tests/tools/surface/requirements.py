# Reads what a torch requires of a build of a backend; see docs/ship/upgrading.md.
"""The standard of C++, the version of Python, and the pybind11 that torch brings."""

import re
from pathlib import Path

STANDARD = re.compile(r"__cplusplus < (\d+)L")
PYBIND = re.compile(r"#\s*define PYBIND11_(VERSION_M\w+|INTERNALS_VERSION) (\d+)")
PYTHON = re.compile(r"^Requires-Python: (.+)$", re.MULTILINE)
# Folders of include whose headers belong to torch, not to a library inside it.
FOLDERS = ("ATen", "c10", "torch")


def requirements(torch: Path) -> dict[str, str]:
    """Return what this torch requires, by name."""
    found = {}
    aten = torch / "include" / "ATen" / "ATen.h"
    if aten.is_file() and (standard := STANDARD.search(aten.read_text())):
        found["C++"] = standard[1]
    numbers: dict[str, str] = {}
    for path in sorted(torch.glob("include/pybind11/detail/*.h")):
        numbers |= dict(PYBIND.findall(path.read_text()))
    if "VERSION_MAJOR" in numbers:
        found["pybind11"] = "{}.{}, internals {}".format(
            *(numbers[f"VERSION_{part}"] for part in ("MAJOR", "MINOR")),
            numbers.get("INTERNALS_VERSION"),
        )
    for path in sorted(torch.parent.glob("torch-*.dist-info/METADATA")):
        if python := PYTHON.search(path.read_text(encoding="utf-8")):
            found["Python"] = python[1]
    return found


def headers(torch: Path) -> dict[str, str]:
    """Return the headers that a backend can include, as it names them."""
    include = torch / "include"
    return {
        path.relative_to(include).as_posix(): ""
        for folder in FOLDERS
        for path in sorted((include / folder).rglob("*.h*"))
        if path.parent.name != "ops"  # see _read_headers()
    }

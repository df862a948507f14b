# Checks a wheel of a backend before its release; see docs/ship/check-wheels.md.
"""python openreg/check_wheel.py dist/torch_acme-*.whl --own acme --own 'ac[A-Z]'

Reads the shared objects of a wheel with readelf and nm, of binutils. Nothing of the
wheel is loaded. Exit status 1 if something would fail on another machine.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

# What every Linux with a C++ program has.
SYSTEM = re.compile(
    r"(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)|ld-linux-(x86-64|aarch64))\.so\.\d+"
)
DYNAMIC = re.compile(r"\((NEEDED|RUNPATH|RPATH)\).*\[(.*)\]")
VERSION = re.compile(r"@+(?:GLIBC|GLIBCXX|CXXABI|GCC)_.*")
RELEASE = re.compile(r"@+(GLIBC|GLIBCXX)_([\d.]+)")  # of the C and the C++ library
LOCAL_PIN = re.compile(r"^Requires-Dist: ([^;\n]*==[^;,\n]*\+[^;\n]*)", re.MULTILINE)
STRONG = "TDBRGS"  # nm's letters for symbols that replace those of other libraries
OF_THE_LINKER = {"__bss_start", "_edata", "_end", "_fini", "_init"}
OF_THE_LINKER |= {"__bss_end__", "__bss_start__", "__end__", "_bss_end__"}  # on Arm


@dataclass
class SharedObject:
    """What the loader reads in a shared object."""

    path: Path
    needed: list[str]
    runpath: list[str]
    exported: set[str]  # strong symbols that other libraries can bind to
    undefined: set[str]  # symbols that it takes from another library
    releases: set[tuple[str, str]]  # of the libraries that have them


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read(path: Path) -> SharedObject:
    """Read the dynamic section and the symbols of a shared object."""
    entries = DYNAMIC.findall(_run("readelf", "-dW", str(path)))
    paths = [value for kind, value in entries if kind != "NEEDED"]
    symbols = [line.split()[-2:] for line in _run("nm", "-D", str(path)).splitlines()]
    return SharedObject(
        path,
        [value for kind, value in entries if kind == "NEEDED"],
        [one for value in paths for one in value.split(":")],
        {VERSION.sub("", name) for letter, name in symbols if letter in STRONG},
        {VERSION.sub("", name) for letter, name in symbols if letter == "U"},
        {found for _, name in symbols for found in RELEASE.findall(name)},
    )


# LITERALINCLUDE START: CHECK_WHEEL
def problems(objects: list[SharedObject], own: list[str]) -> Iterator[str]:
    """Say what would fail on another machine, or harm other packages there.

    Args:
        own: patterns of names that may be exported, such as that of a namespace.
    """
    inside = {one.path.name for one in objects}
    torch = {path.name: path for path in torch_libraries()}
    for name in sorted(inside & torch.keys()):
        yield f"{name} is a library of torch: a process would have two of it"
    allowed = re.compile("|".join([*own, "PyInit_"]))
    for one in objects:
        name = one.path.name
        for path in one.runpath:
            if not path.startswith("$ORIGIN"):
                yield f"{name} searches {path}, a folder of the machine that built it"
        for other in one.needed:
            if other not in inside | torch.keys() and not SYSTEM.fullmatch(other):
                yield f"{name} needs {other}, which neither torch nor every Linux has"
        exported = one.exported - OF_THE_LINKER
        foreign = sorted(symbol for symbol in exported if not allowed.search(symbol))
        if foreign:
            yield f"{name} exports {foreign[0]} and {len(foreign) - 1} more such names"
    yield from _undefined(objects, list(torch.values()))


# LITERALINCLUDE END: CHECK_WHEEL
def _undefined(objects: list[SharedObject], torch: list[Path]) -> Iterator[str]:
    """Say which symbols no library has that the loader would look into."""
    defined: set[str] = set()
    needed = {name for one in objects for name in one.needed}
    libraries = [path for path in torch if path.suffix == ".so"]
    libraries += [path for name in needed if (path := _system_library(name))]
    for path in [*(one.path for one in objects), *libraries]:
        defined |= _defined(path)
    for one in objects:
        missing = sorted(
            symbol
            for symbol in one.undefined - defined
            if not symbol.startswith(("Py", "_Py"))  # of the interpreter
        )
        if missing:
            yield f"{one.path.name} takes {missing[0]} from no library ({len(missing)})"


def pins(metadata: str) -> Iterator[str]:
    """Say which requirements only one build of a release satisfies, such as +cpu."""
    for line in LOCAL_PIN.findall(metadata):
        yield f"it requires {line}: pip refuses each other build of that release"


def _newest(library: str, objects: list[SharedObject]) -> str:
    """Return the newest release of a library that an object needs."""
    releases = {
        text for one in objects for name, text in one.releases if name == library
    }
    return max(releases, key=lambda text: [*map(int, text.split("."))], default="")


@cache
def _defined(path: Path) -> frozenset[str]:
    lines = _run("nm", "-D", "--defined-only", str(path)).splitlines()
    return frozenset(VERSION.sub("", line.split()[-1]) for line in lines)


def torch_libraries() -> list[Path]:
    """Return the libraries of the installed torch, which is not imported."""
    try:
        folder = distribution("torch").locate_file("torch/lib")
    except PackageNotFoundError:
        sys.exit("check_wheel: install the torch that the wheel was built for")
    return sorted(Path(str(folder)).glob("*.so*"))


def _system_library(name: str) -> Path | None:
    if not SYSTEM.fullmatch(name):
        return None
    found = re.search(rf"^\s*{re.escape(name)} .*=> (.*)$", _run(LDCONFIG, "-p"), re.M)
    return Path(found[1]) if found else None


LDCONFIG = next(filter(os.path.exists, ("/sbin/ldconfig", "/usr/sbin/ldconfig")), "")


def check(wheel: Path, own: list[str]) -> tuple[list[str], list[str]]:
    """Return what is in a wheel, line by line, and its problems."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        paths = sorted(path for path in Path(folder).rglob("*.so*") if path.is_file())
        objects = [read(path) for path in paths]
        told = [f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB"]
        for path in paths:
            size = path.stat().st_size / 1e6
            told.append(f"  {path.relative_to(folder)}: {size:.2f} MB")
        for library in ("GLIBC", "GLIBCXX"):
            newest = _newest(library, objects)
            if newest:
                told.append(f"it needs {library} {newest} or newer")
        found = list(problems(objects, own))
        for file in Path(folder).glob("*.dist-info/METADATA"):
            found += pins(file.read_text())
    if wheel.name.endswith("-any.whl"):
        found.append(f"{wheel.name} says that it fits every platform")
    return told, found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path, help="wheel file to check")
    parser.add_argument(
        "--own",
        action="append",
        default=[],
        metavar="PATTERN",
        help="pattern of names that the wheel may export; may be repeated",
    )
    options = parser.parse_args()
    told, found = check(options.wheel, options.own)
    print(*told, *(f"problem: {one}" for one in found), sep="\n")
    print(f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

# Writes docs/reference/starter-knockouts.md: the starter without each of its pieces.
"""Builds the starter so that it can leave out a piece, and runs programs without it.

nox -s ladder -- knockouts

It ends with 1 if the page was not what it is now. A test repeats the part that needs no
build of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]

from starter_build import BUILT, environment, package_of, run_quietly  # noqa: E402
from starter_programs import PROGRAMS  # noqa: E402
from starter_variants import (  # noqa: E402
    CLASSES,
    class_members,
    module_attributes,
    registrations,
    write_variants,
)

PAGE = TOOLS.parents[2] / "docs/reference/starter-knockouts.md"
UNUSED = {"_let_threads_finish"}  # its absence is a race, which a test looks for
LONGEST = 130
ENOUGH = 5  # programs that fail: the others are not run
HEAD = """\
# The starter without a piece

The quickest way to see what a virtual function or a registration of
[your first backend](../start/first-backend.md) is for is to leave it out. Search this
page for an error of your backend, or use the [error index](error-index.md).

`openreg/tests/tools/starter_knockouts.py` generates the tables. It builds the backend
without one piece at a time, and runs {programs} short programs from
`starter_programs.py` beside it. A row names the programs that fail, of which the tool
lists up to five, and shows the error of the first.

* **does not compile:** the member is pure virtual.
* **nothing fails:** none of these programs needs the piece. Without `destroyEvent`,
  each event leaks. Without `empty.memory_format`, each tensor is made on the CPU and
  copied.
* `SIGSEGV` is a segmentation fault. Most of them are endless recursions, because a
  missing copy falls back, and the fallback copies.

`...` replaces text that was cut, and large numbers.
"""
SECTIONS = {
    "entry point": (
        "The entry point",
        "Through it, `import torch` imports the package. The programs import\n"
        "only torch, with `TORCH_DEVICE_BACKEND_AUTOLOAD=0`: torch then\n"
        "reads no entry point.",
    ),
    "guard": (
        "The guard",
        "Without the guard, and without each member of `DeviceGuardImplInterface`.",
    ),
    "allocator": (
        "The allocator",
        "Without an allocator, and without each member of `c10::DeviceAllocator`.",
    ),
    "hooks": (
        "The hooks",
        "Without hooks, and without each member of `PrivateUse1HooksInterface`.",
    ),
    "operators": (
        "The operators",
        "Each stands for its line in `RegisterMinimal.cpp` or `Fallback.cpp`.",
    ),
    "module": (
        "The device module",
        "Without each attribute of `torch.starter`.",
    ),
}

# Pieces that only the large backend has: the example of a page that leaves one out.
ELSEWHERE = """\
## Pieces that the starter lacks

These pieces come with later stages of the [ladder](../start/ladder.md). The examples of
the linked sections run without them.

| without | example | the first error |
|---|---|---|
"""
SHOWN_ELSEWHERE = {
    "the host allocator": (
        "[pinned memory](../runtime/host-memory.md#what-goes-wrong)",
        "NotImplementedError: You should register ... implement "
        "'getPinnedMemoryAllocator' ...",
    ),
    "the generator": (
        "[generators](../runtime/generator.md#missing-members)",
        "NotImplementedError: You should register ... and implement "
        "'getNewGenerator' ...",
    ),
    "the autocast fallthrough": (
        "[mixed precision](../modules/amp.md#what-goes-wrong)",
        "Could not run 'aten::neg' with arguments from the 'Autocastbare' backend.",
    ),
    "the graph implementation": (
        "[graphs](../modules/graphs.md#the-key-of-the-registration)",
        "Graph is not supported on device type: bare",
    ),
}


def build() -> Path:
    """Build the rewritten starter; return the folder to import it from."""
    tree, site = BUILT / "variants", BUILT / "variants-site"
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "variants.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_variants(tree)
        folder = BUILT / "variants-build"
        package = site / "torch_starter"
        configure = ["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(folder)]
        configure += [f"-DPython_EXECUTABLE={sys.executable}"]
        configure += [f"-DDRIVER_ROOT={package_of('torch_openreg')}"]
        configure += [f"-DCMAKE_INSTALL_PREFIX={package}", "-DCMAKE_CXX_FLAGS=-O0 -w"]
        run_quietly(configure)
        run_quietly(["cmake", "--build", str(folder)])
        shutil.copytree(tree / "torch_starter", package, dirs_exist_ok=True)
        run_quietly(["cmake", "--install", str(folder)])
    return site


class Runner:
    """The process that has imported torch, and forks one for each piece."""

    def __init__(self, site: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(TOOLS / "starter_programs.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(site, TORCH_DEVICE_BACKEND_AUTOLOAD="0"),
        )

    def outcomes(self, piece: str) -> list[str]:
        """What each program did without the piece: an error, a signal, or nothing."""
        found: list[str] = []
        while len(found) < len(PROGRAMS) and sum(map(bool, found)) < ENOUGH:
            lines, status = self._run(len(found), piece)
            if lines and lines[0].startswith("ABSTRACT"):
                return ["ABSTRACT"]
            told = [json.loads(line) for line in lines]
            if told and told[-1].startswith("IMPORT "):
                return [f"import torch: {told[-1][7:]}"] * len(PROGRAMS)
            found += told
            if status != 0 or not told:
                found.append(signal.Signals(-status).name if status < 0 else "it ends")
        return found + [""] * (len(PROGRAMS) - len(found))

    def _run(self, first: int, piece: str) -> tuple[list[str], int]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([first, piece]) + "\n")
        self._process.stdin.flush()
        lines = []
        while not (line := self._process.stdout.readline()).startswith("END "):
            assert line, "the process that forks has ended"
            lines.append(line)
        return lines, int(line.split()[1])

    def close(self) -> None:
        self._process.communicate()


def pieces() -> dict[str, list[str]]:
    """What can be left out, by section."""
    found = {"entry point": ["entry point"]}
    found |= {
        piece: [piece, *(f"{piece}.{name}" for name in class_members(piece))]
        for piece in CLASSES
    }
    found["operators"] = registrations()
    attributes = [name for name in module_attributes() if name not in UNUSED]
    found["module"] = [f"module.{name}" for name in attributes]
    return found


def measure(site: Path, names: list[str]) -> dict[str, list[str]]:
    """The outcomes of all programs, for nothing left out and for each piece."""
    runner = Runner(site)
    try:
        return {name: runner.outcomes(name) for name in ["", *names]}
    finally:
        runner.close()


def publish(path: Path, text: str) -> None:
    """Write a page; end with 1 if it was another one, so that a check fails."""
    old = path.read_text() if path.exists() else ""
    path.write_text(text)
    if text != old:
        sys.exit(f"{path.name} was out of date and is written again: commit it")


def label(piece: str) -> str:
    """What a table calls a piece."""
    name = piece.partition(".")[2] if piece.split(".")[0] in SECTIONS else piece
    return f"`{name}`" if name else f"the {piece}"


def row(piece: str, outcomes: list[str]) -> str:
    shown = label(piece)
    if outcomes == ["ABSTRACT"]:
        return f"| {shown} | does not compile | |"
    failed = [
        (program, error)
        for program, error in zip(PROGRAMS, outcomes, strict=True)
        if error
    ]
    if not failed:
        return f"| {shown} | nothing fails | |"
    if len(failed) >= ENOUGH:
        programs = f"{failed[0][0]}; {failed[1][0]}; and more"
    else:
        programs = "; ".join(program for program, _ in failed)
    return f"| {shown} | {programs} | {quoted(failed[0][1])} |"


def quoted(error: str) -> str:
    """An error as code in a cell of a table, without what differs from run to run."""
    text = re.sub(r"0x[0-9a-f]+|\d{5,}", "...", error)
    text = text.replace("`", "'").replace("|", "/")
    if len(text) > LONGEST:
        text = text[:LONGEST].rpartition(" ")[0] + " ..."
    return f"`{text}`"


def unneeded(measured: dict[str, list[str]]) -> set[str]:
    """Programs that no missing piece makes fail: they show nothing."""
    failing = {
        program
        for outcomes in measured.values()
        if outcomes != ["ABSTRACT"]
        for program, error in zip(PROGRAMS, outcomes, strict=True)
        if error
    }
    return set(PROGRAMS) - failing


def page(measured: dict[str, list[str]]) -> str:
    """Return the text of the page."""
    assert not any(measured[""]), f"with all pieces: {measured['']}"
    assert not unneeded(measured), f"need no piece: {unneeded(measured)}"
    parts = [HEAD.format(programs=len(PROGRAMS))]
    for section, names in pieces().items():
        title, text = SECTIONS[section]
        lines = ["| without | what fails | the first error |", "|---|---|---|"]
        lines += [row(name, measured[name]) for name in names]
        parts.append(f"## {title}\n\n{text}\n\n" + "\n".join(lines) + "\n")
    lines = [
        f"| {piece} | {link} | {quoted(error)} |"
        for piece, (link, error) in SHOWN_ELSEWHERE.items()
    ]
    parts.append(ELSEWHERE + "\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", "2")
    every = [name for section in pieces().values() for name in section]
    publish(PAGE, page(measure(build(), every)))

# The stages of docs/start/ladder.md: what each needs, and which files it brings.
"""Data, and what the sources tell about it; ``ladder.py`` runs the programs."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from starter_build import STARTER, TESTS, code_lines

OPENREG = TESTS.parent
sys.path.append(str(OPENREG))  # last: the installed package comes first

from cloning.full import sources  # noqa: E402
from cloning.stages import stage_of  # noqa: E402

PROGRAMS = TESTS / "examples" / "ladder"
INCLUDE = re.compile(r'#include "((?:csrc|torch_openreg)/[^"]+)"')


@dataclass(frozen=True)
class Stage:
    """A stage; its files are those of the starter, or of the large backend."""

    number: int
    title: str
    what: str  # works after it
    pages: str  # the chapters, as links
    days: str  # an estimate for one engineer with experience of the driver
    test: str  # in openreg/tests
    files: tuple[str, ...] = ()  # patterns in the starter; see cloning/stages.py

    @property
    def program(self) -> Path:
        return PROGRAMS / f"stage_{self.number}.py"

    @property
    def in_starter(self) -> bool:
        return self.number <= 3


STAGES = [
    Stage(
        0,
        "Name and module",
        "`torch.device` accepts the name, and `torch.starter` is a module.",
        "[autoload](../frontend/autoload.md), [name](../frontend/naming.md)",
        "1/2",
        "start/test_first_backend.py",
        ("setup.py", "pyproject.toml", "torch_starter/**/__init__.py"),
    ),
    Stage(
        1,
        "Device and guard",
        "Programs can count and switch devices, and each device has a default stream.",
        "[devices](../runtime/device.md), [guard](../runtime/guard.md), "
        "[hooks](../runtime/hooks.md)",
        "1",
        "start/test_first_backend.py",
        (
            "CMakeLists.txt",
            "csrc/Export.h",
            *(f"csrc/runtime/{name}/*" for name in ("device", "errors", "interface")),
            "csrc/runtime/stream/*",
            "torch_starter/csrc/*",
        ),
    ),
    Stage(
        2,
        "Allocate and copy",
        "Programs can create and view tensors, and copy them in all directions.",
        "[first operators](first-operators.md), "
        "[minimal operators](../operators/minimal.md)",
        "2",
        "start/test_first_backend.py",
        (
            "csrc/runtime/memory/*",
            "csrc/aten/*.*",
            "csrc/aten/ops/Factory.cpp",
            "csrc/aten/ops/NativeFunctions.h",
            "csrc/aten/ops/Copy.cpp",
        ),
    ),
    Stage(
        3,
        "Train by fallback",
        "Networks train, because the CPU runs all operators.",
        "[fallback](../operators/fallback.md)",
        "1",
        "start/test_first_backend.py",
        ("csrc/aten/ops/Fallback.*", "examples/*"),
    ),
    Stage(
        4,
        "Streams, events, asynchronous copies",
        "Kernels and copies overlap, and freed memory is cached.",
        "[streams](../runtime/stream.md), [events](../runtime/event.md), "
        "[memory](../runtime/memory.md), [host memory](../runtime/host-memory.md)",
        "10",
        "runtime/test_stream.py",
    ),
    Stage(
        5,
        "Native kernels",
        "Operators run on the device. Without this stage they fall back silently, so "
        "the program checks that the overloads "
        "[to write first](../operators/registration.md#the-out-overload-first) have "
        "kernels.",
        "[registration](../operators/registration.md), "
        "[structured operators](../operators/structured.md)",
        "20",
        "operators/test_structured.py",
    ),
    Stage(
        6,
        "Convolution, attention, recurrent networks",
        "These layers run on the device. Before this stage they run on the CPU, so the "
        "program disables the fallback.",
        "[composite kernels](../operators/composite.md)",
        "10",
        "operators/test_composite.py",
    ),
    Stage(
        7,
        "Random operators and mixed precision",
        "Kernels generate random numbers, and autocast chooses dtypes.",
        "[random kernels](../runtime/random-kernels.md), [amp](../modules/amp.md), "
        "[serialization](../frontend/serialization.md)",
        "5",
        "frontend/test_random_distributions.py",
    ),
    Stage(
        8,
        "Profiler and graphs",
        "Kernels appear in a profiler trace, and graphs capture and replay them.",
        "[profiler](../modules/profiler.md), [graphs](../modules/graphs.md)",
        "10",
        "modules/test_graphs.py",
    ),
    Stage(
        9,
        "Distributed",
        "Several processes, each with its own device, reduce their tensors, and "
        "Inductor compiles.",
        "[distributed](../modules/distributed.md), "
        "[a graph compiler](../modules/compile-dynamo.md#your-own-graph-compiler), "
        "[Inductor](../modules/compile-inductor.md)",
        "15",
        "modules/test_distributed.py",
    ),
]


def included(path: Path) -> list[str]:
    """The files of the same backend that a file includes."""
    return INCLUDE.findall(path.read_text())


def files_of(stage: Stage) -> list[Path]:
    """The files that a stage brings, without those of the stages before it."""
    if not stage.in_starter:
        code = [path for path in sources() if len(path.parts) > 2]
        code = [path for path in code if path.parts[1] in ("csrc", "torch_openreg")]
        code = [path for path in code if stage_of(str(path)) == stage.number]
        return sorted(OPENREG.parent / path for path in code)
    return sorted(
        path
        for pattern in stage.files
        for path in STARTER.glob(pattern)
        if path.is_file()
    )


def lines_of(files: list[Path]) -> int:
    return sum(code_lines(path) for path in files)


def driver_functions(files: list[Path]) -> list[str]:
    """The functions of the driver that the files name."""
    header = "\n".join(
        path.read_text()
        for path in sorted((OPENREG / "third_party/openreg/include").glob("*.h"))
    )
    known = set(re.findall(r"\b((?:or|occl)[A-Z]\w+)\(", header))
    named = {
        word
        for path in files
        if path.suffix in (".h", ".cpp")
        for word in re.findall(r"\b(?:or|occl)[A-Z]\w+", path.read_text())
    }
    return sorted(known & named)

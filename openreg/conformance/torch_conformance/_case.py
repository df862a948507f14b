# A case of the conformance kit, and how to declare one; see docs/ship/conformance.md.
"""A case is a function of a ``Device`` that raises if the device is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch_conformance._device import Device

Body = Callable[["Device"], None]
LIMIT = 120  # seconds without progress, until a case hangs: one call may compile
LEVELS = (
    "name and module",
    "device and guard",
    "memory and copies",
    "operators and training",
    "streams and allocator",
    "native kernels and modules",
)
# The title of each page that a case names, by its path.
PAGES = {
    "frontend/accelerator-api": "The accelerator API",
    "frontend/autoload": "Autoload",
    "frontend/device-module": "The device module",
    "frontend/multiprocessing": "Several processes",
    "frontend/naming": "The name of the device",
    "frontend/random": "Random numbers",
    "frontend/serialization": "Serialization",
    "modules/amp": "Mixed precision",
    "modules/compile-dynamo": "Compiling with Dynamo",
    "modules/compile-inductor": "Compiling with Inductor",
    "modules/distributed": "Distributed",
    "modules/graphs": "Graphs",
    "modules/profiler": "The profiler",
    "operators/attention": "Attention",
    "operators/autograd": "Autograd",
    "operators/composite": "Composite kernels",
    "operators/fallback": "Fallback",
    "operators/fused-layers": "Fused layers",
    "operators/minimal": "Minimal operators",
    "operators/minimal-copies": "Copies and views",
    "operators/registration": "Registration",
    "operators/structured": "Structured operators",
    "runtime/device": "Devices",
    "runtime/event": "Events",
    "runtime/generator": "Generators",
    "runtime/guard": "The device guard",
    "runtime/hooks": "The hooks",
    "runtime/host-memory": "Host memory",
    "runtime/memory": "Device memory",
    "runtime/memory-streams": "Memory and streams",
    "runtime/storage": "Storage",
    "runtime/stream": "Streams",
    "ship/sweep": "Sweep over all operators",
}


# LITERALINCLUDE START: CONFORMANCE_CASE
@dataclasses.dataclass(frozen=True)
class Case:
    """What PyTorch expects of a device, and the code that proves it."""

    name: str  # area.what
    level: int
    stage: int | None  # of the ladder; None where the ladder has no stage
    expects: str  # a sentence about PyTorch
    implement: str  # the symbol, and the header or file that declares it
    page: str  # of the guide
    needs: tuple[str, ...]  # features, see _features.py
    body: Body
    loads: bool = True  # whether the runner loads the backend before the body
    seconds: float = LIMIT

    @property
    def area(self) -> str:
        return self.name.partition(".")[0]


# LITERALINCLUDE END: CONFORMANCE_CASE
CASES: dict[str, Case] = {}


class Area:
    """Declares the cases of one area of one level."""

    def __init__(
        self, name: str, *, level: int, stage: int | None, page: str, implement: str
    ) -> None:
        self.name, self.level, self.stage = name, level, stage
        self.page, self.implement = page, implement

    def case(
        self,
        expects: str,
        *needs: str,
        implement: str = "",
        page: str = "",
        loads: bool = True,
        seconds: float = LIMIT,
    ) -> Callable[[Body], Body]:
        """Declare a function as a case; the rest is that of the area."""

        def declare(body: Body) -> Body:
            self.add(
                body.__name__,
                expects,
                body,
                *needs,
                implement=implement,
                page=page,
                loads=loads,
                seconds=seconds,
            )
            return body

        return declare

    def add(
        self,
        what: str,
        expects: str,
        body: Body,
        *needs: str,
        implement: str = "",
        page: str = "",
        loads: bool = True,
        seconds: float = LIMIT,
    ) -> None:
        """Add one case; ``what`` is its name within the area."""
        name = f"{self.name}.{what}"
        assert name not in CASES, name
        page, implement = page or self.page, implement or self.implement
        assert page in PAGES, page
        CASES[name] = Case(
            *(name, self.level, self.stage, expects, implement, page, needs, body),
            loads=loads,
            seconds=seconds,
        )

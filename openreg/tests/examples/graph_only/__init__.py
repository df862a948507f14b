# A device that only compiles graphs, on the simulated device; see
# docs/modules/graph-only.md.
"""Three ways to a chip that cannot run a single kernel.

``GraphEager`` compiles each operator, ``DeferredEager`` compiles what was called
until a value is needed, and ``compile_whole`` is a backend of ``torch.compile``.
"""

from .binary import Binary, Counts
from .cache import GraphCache
from .chip import TOY, ChipError, Target, compile_graph, counted
from .deferred import DeferredEager
from .eager import GraphEager
from .lower import lower
from .whole import build, compile_whole, load, save

__all__ = [
    "TOY",
    "Binary",
    "ChipError",
    "Counts",
    "DeferredEager",
    "GraphCache",
    "GraphEager",
    "Target",
    "build",
    "compile_graph",
    "compile_whole",
    "counted",
    "load",
    "lower",
    "save",
]

# What the tests may ask of the simulated driver; see docs/ship/make-it-yours.md.
"""Each driver has such a file: what its devices can do, and how a test slows them.

A test that needs a capability which is not listed is deselected. A driver that lists
"hold", "delay" or "full memory" has the functions below that do it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch

CAPABILITIES = {
    *("memory that the host cannot touch", "hold", "delay", "full memory"),
    *("kernels of the host", "a kernel for every operator", "graphs"),
}


def _simulator() -> Any:
    return torch.get_device_module().simulator  # of the one accelerator, by any name


def hold(stream: torch.Stream) -> AbstractContextManager[object]:
    """Within the context no task of the stream starts; what is enqueued waits."""
    context: AbstractContextManager[object] = _simulator().hold(stream)
    return context


def delay(microseconds: int, seed: int) -> AbstractContextManager[object]:
    """Within the context tasks take longer, in an order that the seed repeats."""
    context: AbstractContextManager[object] = _simulator().delay(microseconds, seed)
    return context


def fail_allocations(count: int) -> None:
    """Let the next allocations of the driver fail."""
    _simulator().fail_allocation(count)


def reset() -> None:
    """Undo all of it."""
    _simulator().reset()

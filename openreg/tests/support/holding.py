# How a test makes the device slow or full on purpose; see docs/start/ladder.md.
"""The capability ``hold`` of ``backend.py``: write these for a driver of your own.

OpenCL, for example, holds a stream with a user event.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch


def hold(stream: torch.Stream) -> AbstractContextManager[object]:
    """Within the context no task of the stream starts; what is enqueued waits."""
    return torch.openreg.simulator.hold(stream)


def delay(microseconds: int, seed: int) -> AbstractContextManager[object]:
    """Within the context tasks take longer, in an order that the seed repeats."""
    return torch.openreg.simulator.delay(microseconds, seed)


def fail_allocations(count: int) -> None:
    """Let the next allocations of the driver fail."""
    torch.openreg.simulator.fail_allocation(count)


def reset() -> None:
    """Undo all of it."""
    torch.openreg.simulator.reset()

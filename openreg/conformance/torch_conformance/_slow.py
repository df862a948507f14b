# A kernel that keeps a device busy, on any device; see docs/ship/conformance.md.
from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from types import ModuleType

import torch

from torch_conformance._progress import progress

SLOW = 0.3  # seconds that the slow kernel takes at least
SMALLEST, LARGEST = 16, 4096  # sides of the matrices
GRAIN = 0.02  # seconds of one product, unless the largest one is faster
Work = Callable[[], object]


# LITERALINCLUDE START: CONFORMANCE_SLOW
def slow_kernel(device: str, module: ModuleType, wait: Work) -> Work:
    """Return what keeps the current stream busy for at least ``SLOW`` seconds."""
    sleep = getattr(module, "_sleep", None)  # (1)
    if sleep is not None:
        cycles = 1
        while (seconds := _shortest(functools.partial(sleep, cycles), wait)) < GRAIN:
            cycles *= 4
            if cycles >= 1 << 30:
                raise AssertionError("synchronizing returns before the work has run")
        return functools.partial(sleep, int(1.2 * SLOW / seconds * cycles) + 1)
    side = SMALLEST  # (2)
    while True:
        a = torch.ones(side, side, device=device)
        seconds = _shortest(lambda a=a: torch.mm(a, a)[0, 0].item(), wait)
        if seconds >= GRAIN or side == LARGEST:
            break
        side *= 2
    return functools.partial(_multiply, a, math.ceil(1.2 * SLOW / seconds))


# LITERALINCLUDE END: CONFORMANCE_SLOW
def _multiply(a: torch.Tensor, times: int) -> None:
    for _ in range(times):
        torch.mm(a, a)


def _shortest(work: Work, wait: Work) -> float:
    """Time work that has run before: the first launch may compile the kernel."""
    _seconds(work, wait)
    return min(_seconds(work, wait) for _ in range(3))  # others use the machine


def _seconds(work: Work, wait: Work) -> float:
    wait()
    start = time.perf_counter()
    work()
    wait()
    progress()
    return time.perf_counter() - start

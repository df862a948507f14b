# A kernel that keeps a device busy, on any device; see docs/ship/conformance.md.
from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from types import ModuleType

import torch

from torch_conformance._progress import progress

SLOW = 0.3  # seconds that the slow kernel takes at least
EARLY = 0.7 * SLOW  # what returns by then has not waited for it
SMALLEST, LARGEST = 16, 4096  # sides of the matrices
GRAIN = 0.02  # seconds that can be measured
MARGIN = 1.2
Work = Callable[[], object]


# LITERALINCLUDE START: CONFORMANCE_SLOW
def slow_kernel(device: str, module: ModuleType, wait: Work) -> tuple[Work, int]:
    """Return work of at least ``SLOW`` seconds, and the number of its kernels."""
    sleep = getattr(module, "_sleep", None)  # (1)
    if sleep is not None:
        cycles = 1
        while (seconds := _shortest(partial(sleep, cycles), wait)) < GRAIN:
            cycles *= 4
            if cycles >= 1 << 30:
                raise AssertionError("synchronizing returns before the work has run")
        return partial(sleep, int(MARGIN * SLOW / seconds * cycles) + 1), 1
    side = SMALLEST
    while (seconds := _product(side, device, wait)) < SLOW and side < LARGEST:
        factor = MARGIN * SLOW / seconds if seconds > GRAIN else 8
        side = min(LARGEST, math.ceil(side * factor ** (1 / 3)))  # (2)
    times = math.ceil(SLOW / seconds)
    return partial(_multiply, torch.ones(side, side, device=device), times), times


# LITERALINCLUDE END: CONFORMANCE_SLOW
def _multiply(a: torch.Tensor, times: int) -> None:
    for _ in range(times):
        torch.mm(a, a)


def _product(side: int, device: str, wait: Work) -> float:
    """Time one product; it is read, so no wait that returns too early counts."""
    a = torch.ones(side, side, device=device)
    return _shortest(lambda: torch.mm(a, a)[0, 0].item(), wait)


def _shortest(work: Work, wait: Work) -> float:
    """Time work that has run before: the first launch may compile the kernel."""
    _seconds(work, wait)
    found = [_seconds(work, wait)]
    while len(found) < 3 and sum(found) < SLOW:
        found.append(_seconds(work, wait))  # others use the machine
    return min(found)


def _seconds(work: Work, wait: Work) -> float:
    wait()
    start = time.perf_counter()
    work()
    wait()
    progress()
    return time.perf_counter() - start

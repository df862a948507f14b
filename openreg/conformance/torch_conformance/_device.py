# The device under test, as its cases use it; see docs/ship/conformance.md.
"""Nothing here is specific to a backend: only the name of the device is known."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from types import ModuleType
from typing import Any

import torch

from torch_conformance._progress import progress
from torch_conformance._slow import EARLY, SLOW, Work, slow_kernel

ASYNCHRONOUS = "launches are asynchronous"
OVERLAP = "kernels of two streams overlap"
TRIES = 3  # a busy machine can make a call late, and none can make it early


class Device:
    """The device under test, and the module that a new process imports for it."""

    def __init__(self, type_: str, imports: str | None = None) -> None:
        self.type = type_
        self.imports = imports
        self.lost = False  # a case made it fail: nothing can wait for it
        self.measured: dict[str, bool] = {}  # capabilities, which are no faults

    def __call__(self, index: int = 0) -> torch.device:
        return torch.device(self.type, index)

    @property
    def module(self) -> ModuleType:
        """``torch.<name>``."""
        return torch.get_device_module(self.type)

    def on(self, host: torch.Tensor, index: int | None = None) -> torch.Tensor:
        """A copy on the device, also where the device is the CPU."""
        target = self.type if index is None else self(index)
        return host.to(target, copy=True)

    def put(self, *values: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """A tensor on the device, made on the CPU."""
        return self.on(torch.tensor(values, dtype=dtype))

    def step(self, name: str) -> None:
        """Say what a long case does next, which a crash or a hang then names."""
        progress(name)

    def synchronize(self) -> None:
        """Wait for all devices."""
        if self.type != "cpu":
            for index in range(self.module.device_count()):
                torch.accelerator.synchronize(index)

    def settle(self) -> None:
        """Let a case end; separate cases check devices that cannot be waited for."""
        if self.lost:
            return
        try:
            self.synchronize()
        except RuntimeError as error:
            if not any(text in str(error) for text in ("doesn't support", "available")):
                raise

    @cached_property
    def _slow(self) -> tuple[Work, int]:
        torch.empty(1, device=self.type)  # this also starts the device
        return slow_kernel(self.type, self.module, self.synchronize)

    def slow(self) -> None:
        """Keep the current stream busy for at least ``SLOW`` seconds."""
        work, _ = self._slow
        progress()
        work()

    def warm(self, *works: Work) -> None:
        """Run what a case measures or waits for once: the first launch may compile."""
        for work in (self.slow, *works):
            work()
            progress()
        self.synchronize()

    def seconds_with_slow(
        self, *works: Work, stream: torch.Stream | None = None
    ) -> float:
        """Time the slow kernel on a stream, or the current one, and calls behind it."""
        start = time.perf_counter()
        with stream or nullcontext():
            self.slow()
        for work in works:
            work()
        return time.perf_counter() - start

    def check_waits(self, *works: Work, stream: torch.Stream | None = None) -> None:
        """The calls behind the slow kernel must wait for it."""
        seconds = self.seconds_with_slow(*works, stream=stream)
        check(seconds > EARLY, f"it waits {seconds:.2f} s for a kernel of {SLOW} s")

    def returns_early(self, *works: Work) -> bool:
        """Measure whether the slow kernel and calls behind it return before it ends."""
        for _ in range(TRIES):
            self.synchronize()
            if self.seconds_with_slow(*works) < EARLY:
                return True
        return False

    def asynchronous(self) -> bool:
        """Measure whether a launch returns before its kernel has run."""
        if ASYNCHRONOUS not in self.measured:
            self.warm()
            self.measure(ASYNCHRONOUS, self.returns_early())
            self.synchronize()
        return self.measured[ASYNCHRONOUS]

    def overlap(self) -> bool:
        """Measure whether kernels of two streams run at the same time."""
        if OVERLAP not in self.measured:
            x = torch.zeros(4, device=self.type)
            self.warm(lambda: x.fill_(0))
            self.measure(OVERLAP, any(self._passes(x) for _ in range(TRIES)))
        return self.measured[OVERLAP]

    def _passes(self, x: torch.Tensor) -> bool:
        """Return whether kernels end before the slow work that began before them.

        If that consists of many kernels, one unit could run another after each of them.
        """
        _, kernels = self._slow
        one = SLOW / kernels
        side, other = torch.Stream(self()), torch.Stream(self())
        longest = 0.0
        with side:
            self.slow()
        for _ in range(min(16, kernels)):
            time.sleep(one / 2)  # in the middle of one: a single unit is busy then
            start = time.perf_counter()
            with other:
                x.fill_(1)
            other.synchronize()
            longest = max(longest, time.perf_counter() - start)
        passes = longest < one / 4 and not side.query()
        self.synchronize()
        return passes

    def measure(self, capability: str, there: bool) -> None:
        """Report a capability: a device that lacks it is slower and not wrong."""
        self.measured[capability] = there


@contextmanager
def refused(*kinds: type[Exception], saying: str = "") -> Iterator[None]:
    """The block must raise one of the errors."""
    try:
        yield
    except kinds as error:
        if saying not in str(error):
            raise AssertionError(
                f"the error does not contain {saying!r}: {error}"
            ) from error
    else:
        names = " or ".join(kind.__name__ for kind in kinds)
        raise AssertionError(f"no error: expected {names}")


def check(condition: object, message: str) -> None:
    """Raise if something is wrong; ``assert`` would not under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def same(
    actual: torch.Tensor | None, expected: torch.Tensor | None, what: str = ""
) -> None:
    """Compare a tensor with one of the CPU, with the tolerance of its dtype."""
    progress()
    if actual is None or expected is None:
        raise AssertionError(f"{what}: expected a tensor, got None")
    torch.testing.assert_close(
        actual.cpu(), expected, equal_nan=True, msg=lambda text: f"{what}: {text}"
    )

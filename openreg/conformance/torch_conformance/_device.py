# The device under test, as its cases use it; see docs/ship/conformance.md.
"""Nothing here is specific to a backend: only the name of the device is known."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch.profiler import ProfilerActivity, supported_activities

from torch_conformance._case import STEP, Missing

SLOW = 0.3  # seconds that a slow kernel takes at least
ACTIVITIES = {"cuda": "CUDA", "xpu": "XPU"}  # of the profiler; PrivateUse1
SIDE = 1024  # of the matrices of a slow kernel, where the device offers no sleep


class Device:
    """The device under test, and the module that a new process imports for it."""

    def __init__(self, type_: str, imports: str | None = None) -> None:
        self.type = type_
        self.imports = imports
        self.lost = False  # a case made it fail: nothing can wait for it
        self._slow: Callable[[], None] | None = None

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
        os.write(1, f"{STEP}{name}\n".encode())  # a crash loses what is buffered

    def synchronize(self) -> None:
        """Wait for all devices."""
        if self.type != "cpu":
            for index in range(self.module.device_count()):
                torch.accelerator.synchronize(index)

    def settle(self) -> None:
        """Let a case end: what cannot be waited for is judged by cases of its own."""
        if self.lost:
            return
        try:
            self.synchronize()
        except RuntimeError as error:
            if not any(text in str(error) for text in ("doesn't support", "available")):
                raise

    # LITERALINCLUDE START: CONFORMANCE_SLOW
    def slow(self) -> None:
        """Keep the current stream busy for at least ``SLOW`` seconds."""
        if self._slow is None:
            self._slow = self._calibrated()
        self._slow()

    def _calibrated(self) -> Callable[[], None]:
        a = torch.ones(SIDE, SIDE, device=self.type)  # this starts the device, too
        sleep = getattr(self.module, "_sleep", None)  # (1)

        def multiply(times: int) -> None:
            for _ in range(times):
                torch.mm(a, a)  # (2)

        work = sleep or multiply
        return functools.partial(work, self._times(work))

    def _times(self, work: Callable[[int], None]) -> int:
        """How often a device must do something to be busy for long enough."""
        times = 1
        while (seconds := self._shortest(functools.partial(work, times))) < 0.02:
            times *= 4
            check(times < 1 << 30, "synchronizing returns before the work has run")
        return int(1.2 * SLOW / seconds * times) + 1

    # LITERALINCLUDE END: CONFORMANCE_SLOW
    def _shortest(self, work: Callable[[], None]) -> float:
        return min(self._seconds(work) for _ in range(3))  # others use the machine

    def _seconds(self, work: Callable[[], None]) -> float:
        self.synchronize()
        start = time.perf_counter()
        work()
        self.synchronize()
        return time.perf_counter() - start


CAPABILITIES: dict[str, Callable[[Device], object]] = {}


def capability(probe: Callable[[Device], object]) -> Callable[[Device], object]:
    """Declare a capability; its probe raises, or returns false, where it is missing."""
    CAPABILITIES[probe.__name__.replace("_", " ")] = probe
    return probe


@capability
def streams(d: Device) -> object:
    """Streams other than the default one."""
    default = torch.accelerator.current_stream()
    return torch.Stream(d()).stream_id != default.stream_id


@capability
def two_devices(d: Device) -> object:
    """A second device: the machine may have one only."""
    return d.module.device_count() > 1


@capability
def events(d: Device) -> object:
    """Events that can be recorded."""
    event = torch.Event(d.type)
    event.record()
    return True


@capability
def asynchronous_work(d: Device) -> object:
    """Kernels that run after the call that launches them has returned."""
    d.slow()
    d.synchronize()
    d.slow()
    event = torch.Event(d.type)
    event.record()
    busy = not event.query()
    d.synchronize()
    return busy


@capability
def memory_statistics(d: Device) -> object:
    """An allocator that counts."""
    return "allocated_bytes.all.current" in torch.accelerator.memory_stats()


@capability
def pinned_memory(d: Device) -> object:
    """Host memory that the device reads directly."""
    return torch.empty(1).pin_memory().is_pinned()


@capability
def generators(d: Device) -> object:
    """Random numbers of the device."""
    return torch.Generator(d()).device.type == d.type


@capability
def autocast(d: Device) -> object:
    """Mixed precision."""
    return torch.amp.is_autocast_available(d.type)


@capability
def graphs(d: Device) -> object:
    """Capture and replay."""
    return torch.accelerator.Graph()


@capability
def profiler(d: Device) -> object:
    """Records of the device's activity."""
    activity = getattr(ProfilerActivity, ACTIVITIES.get(d.type, "PrivateUse1"))
    return activity in supported_activities() and d.type not in ("cpu", "mps")


@capability
def process_groups(d: Device) -> object:
    """A communication library for the device."""
    return torch.distributed.get_default_backend_for_device(d.type)


def require(device: Device, names: tuple[str, ...]) -> None:
    """Raise ``Missing`` if the device lacks one of the capabilities."""
    for name in names:
        try:
            there = CAPABILITIES[name](device)
        except Exception as error:
            text = str(error).partition("\n")[0]
            raise Missing(f"no {name}: {type(error).__name__}: {text}") from error
        if not there:
            raise Missing(f"no {name}")


@contextmanager
def refused(*kinds: type[Exception], saying: str = "") -> Iterator[None]:
    """The block must raise one of the errors."""
    try:
        yield
    except kinds as error:
        if saying not in str(error):
            raise AssertionError(f"the error lacks {saying!r}: {error}") from error
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
    if actual is None or expected is None:
        raise AssertionError(f"{what}: there is no tensor")
    torch.testing.assert_close(
        actual.cpu(), expected, equal_nan=True, msg=lambda text: f"{what}: {text}"
    )

# Faults planted in a backend, with their cases; see docs/ship/conformance.md.
"""A driver with a fault, a device module with one, and wrong kernels."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import torch
from conformance import kernels

DRIVER = {  # the fault of shim.c: what it does, the case that must find it
    "last byte": ("A copy leaves out the last byte", "copies.every_byte"),
    "no copy": ("An asynchronous copy copies nothing", "copies.dtypes"),
    "copy stream": ("Copies run on the default stream", "streams.in_order"),
    "early read": ("A copy to the CPU waits 50 ms at most", "streams.copies_wait"),
    "no memset": ("Memory is not set", "operators.factories"),
    "get device": ("Device 0 is always current", "device.set_device"),
    "no device": ("No device is counted", "registration.module"),
    "count": ("A device too many is counted", "device.synchronize"),
    "shared device": ("All threads share the current device", "device.threads"),
    "set device": ("The current device cannot be set", "device.context"),
    "set swallowed": ("A wrong index raises no error", "device.no_such_device"),
    "device sync": ("Nothing waits for the device", "operators.kernel_errors"),
    "half": ("Memory has half of its size", "memory.disjoint"),
    "no memory": ("There is no memory", "memory.empty"),
    "memory swallowed": ("No memory left raises no error", "memory.too_large"),
    "leak": ("Memory is never freed", "allocator.fragmentation"),
    "memory device": ("Memory is always on device 0", "allocator.memory_info"),
    "memory info": ("All memory is free", "allocator.memory_info"),
    "not pinned": ("Pinned memory is not recognized", "host memory.pinned"),
    "one stream": ("All streams are the same one", "streams.independent"),
    "stream sync": ("Nothing waits for a stream", "streams.synchronize"),
    "stream query": ("Streams have never any work", "streams.independent"),
    "no record": ("Events are not recorded", "copies.between_devices"),
    "record stream": ("Events are recorded on the default stream", "events.stream"),
    "one record": ("An event is recorded only once", "events.query"),
    "no wait": ("No stream waits for an event", "copies.between_devices"),
    "wait stream": ("The default stream waits instead", "events.wait"),
    "event done": ("Each event is complete at once", "events.query"),
    "event never done": ("No event is ever complete", "events.query"),
    "event sync": ("Nothing waits for an event", "events.synchronize"),
    "seconds": ("Times are in seconds", "events.elapsed_time"),
    "microseconds": ("Times are in microseconds", "events.elapsed_time"),
    "any time": ("No time passes between events", "events.elapsed_time"),
    "launch stream": ("Kernels run on the default stream", "streams.independent"),
    "no launch": ("Kernels do not run", "copies.layouts"),
    "error swallowed": ("Errors of kernels are lost", "operators.kernel_errors"),
    "no replay": ("A graph is not replayed", "graphs.replay"),
    "replay stream": ("A graph is replayed on the default stream", "graphs.stream"),
    "no capture": ("A capture runs its kernels", "graphs.memory"),
}
REMOVED = {  # an attribute of the device module: the case that misses it
    "is_available": "registration.module",
    "device_count": "registration.module",
    "current_device": "device.set_device",
    "set_device": "device.set_device",
    "synchronize": "device.synchronize",
    "device": "device.module_context",
    "_is_in_bad_fork": "registration.fork_question",
    "manual_seed_all": "generator.default_generator",
    "get_rng_state": "generator.fork_rng",
    "set_rng_state": "generator.fork_rng",
    "get_amp_supported_dtype": "mixed precision.casts",
}
WRONG: dict[str, tuple[Callable[..., Any], str]] = {  # what it returns instead
    "is_available": (lambda: False, "registration.module"),
    "device_count": (lambda: 0, "registration.module"),
    "current_device": (lambda: 0, "device.set_device"),
    "set_device": (lambda device: None, "device.set_device"),
    "synchronize": (lambda device=None: None, "streams.synchronize_device"),
    "_is_in_bad_fork": (lambda: True, "registration.fork_question"),
    "manual_seed_all": (lambda seed: None, "generator.default_generator"),
    "set_rng_state": (lambda state, device=0: None, "generator.fork_rng"),
}


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault, where it is, and the case that must find it."""

    name: str
    where: str
    case: str
    plant: Callable[[], object]


def _removal(name: str) -> Callable[[], object]:
    def plant() -> None:
        delattr(torch.openreg, name)  # type: ignore[attr-defined]

    return plant


def _replacement(name: str, value: Callable[..., Any]) -> Callable[[], object]:
    def plant() -> None:
        setattr(torch.openreg, name, value)  # type: ignore[attr-defined]

    return plant


def _without_method() -> None:
    del torch.Tensor.openreg  # type: ignore[attr-defined]


def _loads_to_device_0() -> None:
    utilities = torch.openreg._utils  # type: ignore[attr-defined]
    utilities._get_device_index = lambda *args, **kwargs: 0


def _driver(name: str) -> Callable[[], object]:
    return lambda: os.environ.__setitem__("CONFORMANCE_FAULT", name)


def all_faults() -> list[Fault]:
    """Every fault, in the order of the table."""
    faults = [
        Fault(text, "driver", case, _driver(name))
        for name, (text, case) in DRIVER.items()
    ]
    faults += [
        Fault(f"`{name}` is missing", "device module", case, _removal(name))
        for name, case in REMOVED.items()
    ]
    faults += [
        Fault(f"`{name}` is wrong", "device module", case, _replacement(name, value))
        for name, (value, case) in WRONG.items()
    ]
    faults += [
        Fault(
            "`Tensor.openreg()` is missing",
            "device module",
            "registration.methods",
            _without_method,
        ),
        Fault(
            "`_utils._get_device_index` is wrong",
            "device module",
            "serialization.index",
            _loads_to_device_0,
        ),
    ]
    faults += [
        Fault(f"`aten::{name}` {text}", "kernel", case, plant)
        for name, text, case, plant in kernels.planted()
    ]
    return faults

# Faults planted in a backend, with their cases; see docs/ship/conformance.md.
"""Three kinds: a driver with a fault, a device module with one, and a wrong kernel."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

DRIVER = {  # the fault of shim.c: what it does, the case that must find it
    "last byte": ("A copy leaves out the last byte", "copies.every_byte"),
    "no copy": ("An asynchronous copy copies nothing", "copies.dtypes"),
    "copy stream": ("Copies run on the default stream", "streams.in_order"),
    "copy blocks": ("A copy from pinned memory waits", "host memory.to_device"),
    "no memset": ("Memory is not set", "operators.factories"),
    "get device": ("Device 0 is always current", "device.set_device"),
    "no device": ("No device is counted", "registration.module"),
    "set device": ("The current device cannot be set", "device.context"),
    "set swallowed": ("A wrong index raises no error", "device.no_such_device"),
    "device sync": ("Nothing waits for the device", "streams.synchronize_device"),
    "half": ("Memory has half of its size", "memory.disjoint"),
    "no memory": ("There is no memory", "memory.empty"),
    "leak": ("Memory is never freed", "allocator.fragmentation"),
    "memory device": ("Memory is always on device 0", "allocator.memory_info"),
    "memory info": ("All memory is free", "allocator.memory_info"),
    "not pinned": ("Pinned memory is not recognized", "host memory.pinned"),
    "one stream": ("All streams are the same one", "streams.independent"),
    "stream sync": ("Nothing waits for a stream", "streams.synchronize"),
    "stream query": ("Streams have never any work", "streams.independent"),
    "no record": ("Events are not recorded", "events.wait"),
    "record stream": ("Events are recorded on the default stream", "events.stream"),
    "no wait": ("No stream waits for an event", "streams.wait_stream"),
    "wait stream": ("The default stream waits instead", "events.wait"),
    "event done": ("Each event is complete at once", "events.query"),
    "event never done": ("No event is ever complete", "events.query"),
    "event sync": ("Nothing waits for an event", "events.synchronize"),
    "seconds": ("Times are in seconds", "events.elapsed_time"),
    "microseconds": ("Times are in microseconds", "events.elapsed_time"),
    "any time": ("No time passes between events", "events.elapsed_time"),
    "launch stream": ("Kernels run on the default stream", "streams.independent"),
    "launch blocks": ("Each launch waits for its kernel", "streams.launch"),
    "no launch": ("Kernels do not run", "operators.pointwise"),
    "no replay": ("A graph is not replayed", "graphs.replay"),
    "no capture": ("A capture runs its kernels", "graphs.memory"),
}
REMOVED = {  # an attribute of the device module: the case that misses it
    "is_available": "registration.module",
    "device_count": "device.count",
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


def _on_cpu(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes on the CPU, and changes the result."""
    import torch

    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        device = next(x.device for x in args if isinstance(x, torch.Tensor))
        host = [x.cpu() if isinstance(x, torch.Tensor) else x for x in args]
        result = change(operator(*host, **kwargs))
        return result if result.device.type == "meta" else result.to(device)

    return kernel


KERNELS: dict[str, tuple[str, Callable[..., Any], str]] = {
    # the operator: what is wrong, how its result changes, the case that finds it
    "exp": ("is off by 0.1 %", lambda x: x * 1.001, "operators.pointwise"),
    "tanh": ("has a wrong sign", lambda x: -x, "operators.pointwise"),
    "gelu": ("is another approximation", lambda x: x + 1e-3, "operators.pointwise"),
    "mm": ("is transposed", lambda x: x.flip(0), "operators.products"),
    "bmm": ("mixes up its batches", lambda x: x.roll(1, 0), "operators.products"),
    "addmm": ("rounds to 16 bits", lambda x: x.half().float(), "operators.products"),
    "sum.dim_IntList": ("ignores an element", lambda x: x - 1, "operators.reductions"),
    "mean.dim": (
        "divides by another number",
        lambda x: x * 0.9,
        "operators.reductions",
    ),
    "_softmax": ("is not normalized", lambda x: x * 2, "operators.reductions"),
    "cumsum": ("runs backward", lambda x: x.flip(1), "operators.reductions"),
    "index_select": ("is off by one row", lambda x: x.roll(1, 0), "operators.indexing"),
    "gather": ("returns another dtype", lambda x: x.double(), "operators.indexing"),
    "tril": ("keeps the wrong triangle", lambda x: x.t(), "operators.indexing"),
    "threshold_backward": ("passes every gradient", lambda x: x + 1, "training.sgd"),
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
        import torch

        delattr(torch.openreg, name)  # type: ignore[attr-defined]

    return plant


def _replacement(name: str, value: Callable[..., Any]) -> Callable[[], object]:
    def plant() -> None:
        import torch

        setattr(torch.openreg, name, value)  # type: ignore[attr-defined]

    return plant


LIBRARIES: list[Any] = []  # a registration ends with its library


def _kernel(name: str, change: Callable[..., Any]) -> Callable[[], object]:
    def plant() -> None:
        import torch

        library = torch.library.Library("aten", "IMPL")
        kernel = _on_cpu(name, change)
        library.impl(name, kernel, "PrivateUse1", allow_override=True)
        LIBRARIES.append(library)

    return plant


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
        Fault(f"`aten::{name}` {text}", "kernel", case, _kernel(name, change))
        for name, (text, change, case) in KERNELS.items()
    ]
    return faults

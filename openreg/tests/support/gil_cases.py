# Calls that may wait, and a device that lets them wait; see docs/runtime/stream.md.
"""Runs one call on a thread while the device stands still.

``python -c "import gil_cases; gil_cases.run('_synchronize')"`` prints ``waits`` if the
call has not returned while the main thread went on, else ``returns``. If the call
keeps the GIL while it waits, the main thread never goes on: then the program ends with
the stacks of all threads.
"""

import faulthandler
import io
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
import torch_openreg

_C = torch_openreg._C
DEVICE = "openreg"
CAPACITY = 1024  # tasks that a stream holds: kCapacity in the driver's stream.h
POOL = (0, 1_000_000)
MEMORY = "64M"  # OPENREG_DEVICE_MEMORY; below, one request has no room beside another
TOO_LARGE = 60 << 20


class Case:
    """A device whose current stream is held and full, and tensors from before."""

    def __init__(self) -> None:
        self.stream = torch.openreg.default_stream(0)
        self.x = torch.ones(4, device=DEVICE)
        self.y = torch.ones(4, device=DEVICE)
        self.storage = self.x.untyped_storage()
        self.owner = torch.ones(4, device=DEVICE)
        self.lazy = torch._lazy_clone(self.owner)
        self.side = torch.Stream(DEVICE)
        self.late = torch.Event(DEVICE)
        # In the cache, so that a request that does not fit waits for the device.
        self.large = torch.empty(30 << 20, dtype=torch.uint8, device=DEVICE)
        self.address = _C._caching_allocator_alloc(512)
        _C._retain_memory_pool(0, POOL)
        self.held = [torch.openreg.simulator.hold(s) for s in (self.stream, self.side)]

    def __enter__(self) -> "Case":
        torch.openreg.synchronize()
        for hold in self.held:
            hold.__enter__()
        self.large = None
        with self.side:
            self.y + 1
            self.late.record()
        launched = []

        def fill() -> None:
            for i in range(CAPACITY + 1):
                self.y.add_(1)
                launched.append(i)

        threading.Thread(target=fill, daemon=True).start()
        while len(launched) < CAPACITY:
            time.sleep(0.001)
        return self

    def __exit__(self, *error: object) -> None:
        for hold in self.held:
            hold.__exit__(None, None, None)


# Each binding, as it is called, and whether it waits for the device.
WAITS: dict[str, Callable[[Case], Any]] = {
    "_synchronize": lambda c: _C._synchronize(0),
    "_drain_autograd_threads": lambda c: _C._drain_autograd_threads(),
    "_sleep": lambda c: _C._sleep(1),
    "_ipc_send": lambda c: _C._ipc_send(c.storage),
    "_empty_cache": lambda c: _C._empty_cache(),
    "_caching_allocator_alloc": lambda c: _C._caching_allocator_alloc(TOO_LARGE),
}
RETURNS: dict[str, Callable[[Case], Any]] = {
    "_device_count": lambda c: _C._device_count(),
    "_current_device": lambda c: _C._current_device(),
    "_set_device": lambda c: _C._set_device(0),
    "_exchange_device": lambda c: _C._exchange_device(0),
    "_switch_to": lambda c: _C._switch_to(c.stream).back(),
    "_check_device_index": lambda c: _C._check_device_index(0),
    "_device_properties": lambda c: _C._device_properties(0),
    "_initialize": lambda c: _C._initialize(),
    "_flight_recorder_entries": lambda c: _C._flight_recorder_entries(),
    "_is_initialized": lambda c: _C._is_initialized(),
    "_is_in_bad_fork": lambda c: _C._is_in_bad_fork(),
    "_default_generator": lambda c: _C._default_generator(0),
    "_external_stream": lambda c: _C._external_stream(0, 0),
    "_stream_priority": lambda c: _C._stream_priority(c.stream),
    "_stream_priority_range": lambda c: _C._stream_priority_range(),
    "_set_fallback_mode": lambda c: _C._set_fallback_mode("allow"),
    "_fallback_mode": lambda c: _C._fallback_mode(),
    "_fallback_counts": lambda c: _C._fallback_counts(),
    "_reset_fallback_counts": lambda c: _C._reset_fallback_counts(),
    "_host_memory_stats": lambda c: _C._host_memory_stats(),
    "_reset_accumulated_host_memory_stats": lambda c: (
        _C._reset_accumulated_host_memory_stats()
    ),
    "_reset_peak_host_memory_stats": lambda c: _C._reset_peak_host_memory_stats(),
    "_storage_id": lambda c: _C._storage_id(c.x),
    "_tensor_tags": lambda c: _C._tensor_tags(c.x),
    "_set_tensor_tags": lambda c: _C._set_tensor_tags(c.x, {"a": True}),
    "_ipc_receive": lambda c: refused(_C._ipc_receive, b"no message"),
    "_ipc_collect": lambda c: _C._ipc_collect(),
    "_memory_fraction": lambda c: _C._memory_fraction(0),
    "_set_memory_fraction": lambda c: _C._set_memory_fraction(1.0, 0),
    "_caching_allocator_delete": lambda c: _C._caching_allocator_delete(c.address),
    "_new_memory_pool": lambda c: _C._new_memory_pool(),
    "_retain_memory_pool": lambda c: _C._retain_memory_pool(0, POOL),
    "_release_memory_pool": lambda c: _C._release_memory_pool(0, POOL),
    "_begin_allocate_to_pool": lambda c: _C._begin_allocate_to_pool(0, POOL),
    "_end_allocate_to_pool": lambda c: (
        _C._begin_allocate_to_pool(0, POOL),
        _C._end_allocate_to_pool(0, POOL),
    ),
    "_private_pool_bytes": lambda c: _C._private_pool_bytes(0),
    "_memory_bytes": lambda c: _C._memory_bytes(0),
    "_memory_snapshot": lambda c: _C._memory_snapshot(),
    "_record_memory_history": lambda c: _C._record_memory_history(
        True, True, 3, False, 10, True, []
    ),
}
# Of process groups: test_distributed_threads.py. _switch_to returns the other one.
ELSEWHERE = {"ProcessGroupOCCL", "_StreamSwitch"}


def refused(call: Callable[..., Any], *arguments: Any) -> None:
    try:
        call(*arguments)
    except ValueError:
        return
    raise AssertionError("the call did not raise")


# Calls of torch's own that let other threads run while the device makes them wait.
OF_TORCH: dict[str, Callable[[Case], Any]] = {
    "torch.accelerator.synchronize": lambda c: torch.accelerator.synchronize(),
    "Stream.synchronize": lambda c: c.stream.synchronize(),
    "Event.synchronize": lambda c: c.late.synchronize(),
    "an operator": lambda c: c.x + 1,
    "Tensor.item": lambda c: c.x[0].item(),
    "Tensor.cpu": lambda c: c.x.cpu(),
    "Tensor.to": lambda c: torch.ones(3).to(DEVICE),
    "torch.tensor": lambda c: torch.tensor([1.0], device=DEVICE),
    "torch.empty": lambda c: torch.empty(TOO_LARGE, dtype=torch.uint8, device=DEVICE),
    "repr": lambda c: repr(c.x),
}
# And those that keep the GIL; see docs/ship/known-gaps-streams.md.
OF_TORCH_WITH_GIL: dict[str, Callable[[Case], Any]] = {
    "Stream.wait_event": lambda c: c.stream.wait_event(c.late),
    "Stream.wait_stream": lambda c: c.stream.wait_stream(c.side),
    "Event.record with enable_timing": lambda c: torch.Event(
        DEVICE, enable_timing=True
    ).record(),
    "Event.wait": lambda c: c.late.wait(),
    "x[0] = 3.0": lambda c: c.x.__setitem__(0, 3.0),
    "UntypedStorage(bytes)": lambda c: torch.UntypedStorage(TOO_LARGE, device=DEVICE),
    "UntypedStorage.resize_": lambda c: c.storage.resize_(4000),
    "UntypedStorage.copy_": lambda c: c.storage.copy_(c.y.untyped_storage()),
    "UntypedStorage.fill_": lambda c: c.storage.fill_(0),
    "UntypedStorage[0]": lambda c: c.storage[0],
    "data_ptr() of a lazy clone": lambda c: c.lazy.data_ptr(),
    "copy.deepcopy": lambda c: __import__("copy").deepcopy(c.x),
    "torch.save": lambda c: torch.save(c.x, io.BytesIO()),
}
CASES = {**WAITS, **RETURNS, **OF_TORCH, **OF_TORCH_WITH_GIL}


def run(name: str, seconds: float = 60) -> None:
    """Print whether the call waits, or end the program with status 1."""
    entered = threading.Event()
    with Case() as case:
        faulthandler.dump_traceback_later(seconds, exit=True)  # needs no GIL
        errors = []

        def work() -> None:
            entered.set()
            try:
                CASES[name](case)
            except torch.OutOfMemoryError:
                pass  # it has waited for memory, and got none
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        entered.wait()
        thread.join(20 if name in RETURNS else 0.3)
        print("waits" if thread.is_alive() else "returns", flush=True)
    thread.join()
    print(*errors, sep="\n", end="", flush=True)
    os._exit(0)  # what is queued does not matter

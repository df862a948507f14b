# Makes the device slow or faulty on purpose; see docs/runtime/errors.md.
"""Delays and failures on purpose: what a test needs and a real device does not have.

The device is fast, so a program that lacks a wait seems to work. With these
functions a test makes the order it wants, and each failure it wants to see. They act on
the whole process. They call the simulated driver directly: nothing else of the package
needs them.
"""

import ctypes
import os
from collections.abc import Iterator
from operator import index
from typing import Any

import torch

from ._driver import LIBRARY
from .openreg._contexts import ProcessSetting, reentrant

__all__ = ["delay", "fail_allocation", "fail_kernel", "hold", "reset"]

_driver = ctypes.CDLL(LIBRARY, os.RTLD_NOLOAD)  # the library that the backend calls
_driver.orGetErrorName.restype = ctypes.c_char_p
_driver.orGetErrorDetail.restype = ctypes.c_char_p
_resets = 0  # how often everything was released


def _call(name: str, *args: Any) -> None:
    """Call a driver function; raise ValueError with the driver's error."""
    error = getattr(_driver, name)(*args)
    if error != 0:
        detail, code = _driver.orGetErrorDetail(), _driver.orGetErrorName(error)
        raise ValueError(
            f'openreg: {detail.decode()} ({code.decode()}; see "Errors" in the guide)'
        )


def _on_stream(name: str, stream: torch.Stream) -> None:
    with torch.accelerator.device_index(stream.device.index):
        _call(name, ctypes.c_void_p(stream.stream_id))


def _hold(stream: torch.Stream) -> None:
    _on_stream("orSimHold", stream)


def _release(stream: torch.Stream) -> None:
    _on_stream("orSimRelease", stream)


def _get_delay() -> tuple[int, int]:
    microseconds, seed = ctypes.c_uint(), ctypes.c_uint()
    _call("orSimGetDelay", ctypes.byref(microseconds), ctypes.byref(seed))
    return microseconds.value, seed.value


def _set_delay(value: tuple[int, int]) -> None:
    numbers = [index(number) for number in value]
    if any(not 0 <= number < 2**32 for number in numbers):
        raise TypeError(
            f"openreg: expected two unsigned 32-bit numbers, but got {value}"
        )
    _call("orSimSetDelay", *map(ctypes.c_uint, numbers))


@reentrant
def hold(stream: torch.Stream | None = None) -> Iterator[torch.Stream]:
    """Within the context no task of a stream starts; what is enqueued waits.

    A wait for the stream returns after the context is left; a thread that waits inside
    the context deadlocks. Within it, OPENREG_LAUNCH_BLOCKING has no effect.

    Args:
        stream: an openreg stream; by default, the current one.

    Raises:
        ValueError: the stream is of another device type.
    """
    if stream is None:
        stream = torch.accelerator.current_stream()
    if stream.device.type != "openreg":
        raise ValueError(f"openreg: expected an openreg stream, but got {stream!r}")
    _hold(stream)
    before = _resets
    try:
        yield stream
    finally:
        if _resets == before:  # reset() also releases
            _release(stream)


_delay = ProcessSetting(_get_delay, _set_delay)


@reentrant
def delay(microseconds: int, seed: int = 0) -> Iterator[None]:
    """Within the context each task of each stream waits before it starts.

    Args:
        microseconds: how long, at most ten seconds.
        seed: with another seed than 0, each task waits for a random time of at most
            that; the same seed gives the same task of the same stream the same time.

    Raises:
        ValueError: the time is too long.
        TypeError: a number is negative, or does not fit into 32 bits.
    """
    with _delay.changed_to((microseconds, seed)):
        yield


def fail_kernel(name: str | None = None, after: int = 0) -> None:
    """Let one kernel fail instead of running; its device then stops, see ``reset``.

    A capture launches no kernels. Those of a graph are launched by each replay.

    Args:
        name: the name of the kernel, such as ``"add"``; ``None``: any kernel.
        after: how many launches of that name succeed before.

    Raises:
        ValueError: ``after`` is negative.
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"openreg: expected the name of a kernel, but got {name!r}")
    _call("orSimFailKernel", name and name.encode(), ctypes.c_int(index(after)))


def fail_allocation(count: int = 1) -> None:
    """Make the next allocations of device or pinned memory fail in the driver.

    A tensor from the allocator's cache does not need a driver allocation.

    Args:
        count: how many; 0 cancels the failures.

    Raises:
        ValueError: ``count`` is negative.
    """
    _call("orSimFailAllocation", ctypes.c_int(index(count)))


def reset() -> None:
    """Release all streams, clear all failures, and make stopped devices usable again.

    The delay is reset to the value of the environment variable OPENREG_SIM_DELAY. On
    real hardware a stopped device needs a new process.
    """
    global _resets
    _resets += 1
    _call("orSimReset")
    for device in range(torch.accelerator.device_count()):
        with torch.accelerator.device_index(device):
            _call("orDeviceReset")

# What the tests may ask of OpenCL; see docs/opencl/driver.md.
"""A stream is held by a user event. Memory is shared virtual memory, which the host of
a CPU device reaches as well; OpenCL cannot slow a device or fill it on purpose.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

CAPABILITIES = {"hold"}

_driver = ctypes.CDLL("liboclrt.so", os.RTLD_NOLOAD)  # the one that the backend calls


def _call(name: str, stream: torch.Stream) -> None:
    with torch.accelerator.device_index(stream.device.index):
        error = getattr(_driver, name)(ctypes.c_void_p(stream.stream_id))
    assert error == 0, f"{name} returned {error}"


@contextmanager
def hold(stream: torch.Stream) -> Iterator[torch.Stream]:
    """Within the context no command of the stream starts; what is enqueued waits."""
    _call("orClHold", stream)
    try:
        yield stream
    finally:
        _call("orClRelease", stream)

# A thousand streams at once; see docs/ship/robustness.md.
"""Streams that the driver made, beyond the 32 that PyTorch reuses."""

import ctypes
import random
from pathlib import Path

import torch
import torch_openreg

STREAMS = 1000


def round_of_streams(seed: int, calls: dict[str, int]) -> None:
    """Pass a tensor along a thousand streams, each in order after the last."""
    choose = random.Random(seed)
    library = Path(torch_openreg.__file__).parent / "lib" / "libopenreg.so"
    driver = ctypes.CDLL(str(library))
    handles = [ctypes.c_void_p() for _ in range(STREAMS)]
    for handle in handles:
        assert driver.orStreamCreate(ctypes.byref(handle)) == 0
    streams = [torch.openreg.ExternalStream(handle.value) for handle in handles]
    choose.shuffle(streams)
    x = torch.zeros(100, device="openreg")
    before: torch.Stream = torch.accelerator.current_stream()
    for stream in streams:
        stream.wait_stream(before)
        with torch.openreg.stream(stream):
            x.add_(1)
            x.record_stream(stream)
        before = stream
    before.synchronize()
    assert x.cpu().eq(STREAMS).all()
    torch.openreg.synchronize()
    del x
    torch.accelerator.empty_cache()
    for handle in handles:
        assert driver.orStreamDestroy(handle) == 0
    calls["streams"] = calls.get("streams", 0) + STREAMS

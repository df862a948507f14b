# Level 4: the caching allocator; see docs/ship/conformance.md.
from __future__ import annotations

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused, same

area = Area(
    "allocator",
    level=4,
    stage=4,
    page="runtime/memory",
    implement="c10::DeviceAllocator, c10/core/CachingDeviceAllocator.h",
)
SIZE = 3 << 20  # bytes
memory = torch.accelerator


def _ones(d: Device) -> torch.Tensor:
    return torch.ones(SIZE, dtype=torch.uint8, device=d.type)


def _zeros(d: Device) -> torch.Tensor:
    return torch.zeros(SIZE, dtype=torch.uint8, device=d.type)


@area.case("Allocated and peak bytes are counted.", "memory statistics")
def statistics(d: Device) -> None:
    before = memory.memory_allocated()
    x = torch.empty(SIZE, dtype=torch.uint8, device=d.type)
    held = memory.memory_allocated() - before
    check(SIZE <= held < 2 * SIZE, f"{held} bytes are counted for {SIZE}")
    check(memory.memory_reserved() >= memory.memory_allocated(), "less is reserved")
    del x
    check(memory.memory_allocated() == before, "a freed tensor is still counted")
    check(memory.max_memory_allocated() >= before + SIZE, "no peak")
    memory.reset_peak_memory_stats()
    check(memory.max_memory_allocated() == before, "the peak is not reset")


@area.case("Each device is counted by itself.", "two devices", "memory statistics")
def devices(d: Device) -> None:
    before = [memory.memory_allocated(index) for index in range(2)]
    kept = torch.empty(SIZE, dtype=torch.uint8, device=d(1))
    check(memory.memory_allocated(0) == before[0], "device 0 is counted for device 1")
    check(memory.memory_allocated(1) >= before[1] + kept.numel(), "nothing on device 1")


@area.case("Freed memory is used again by the same stream.", "memory statistics")
def caching(d: Device) -> None:
    for _ in range(3):
        torch.empty(SIZE, dtype=torch.uint8, device=d.type)
    reserved = memory.memory_reserved()
    for _ in range(50):
        torch.empty(SIZE, dtype=torch.uint8, device=d.type)
    check(memory.memory_reserved() == reserved, "reserved memory grows")
    check(reserved > 0, "nothing is cached")


@area.case("`empty_cache` releases unused memory.", "memory statistics")
def empty_cache(d: Device) -> None:
    x = torch.empty(64 << 20, dtype=torch.uint8, device=d.type)
    kept = d.put(5.0)
    reserved = memory.memory_reserved()
    del x
    memory.empty_cache()
    check(memory.memory_reserved() <= reserved - (64 << 20), "nothing is released")
    same(kept, torch.tensor([5.0]), "a tensor in use was released")


@area.case(
    "Memory freed on a stream is not used by another one before its work has run.",
    "streams",
    page="runtime/memory-streams",
)
def other_stream(d: Device) -> None:
    side, other = torch.Stream(d()), torch.Stream(d())
    d.warm(lambda: _ones(d).clone(), lambda: _zeros(d))
    with side:
        x = _ones(d)
        d.slow()
        y = x.clone()
        del x
    with other:
        taken = [_zeros(d) for _ in range(4)]
    d.synchronize()
    same(y, torch.ones(SIZE, dtype=torch.uint8), "overwritten while it was in use")
    check(len(taken) == 4, "")


@area.case(
    "`record_stream` keeps memory until the other stream has used it.",
    "streams",
    implement="c10::DeviceAllocator::recordStream, c10/core/CachingDeviceAllocator.h; "
    "aten::record_stream for PrivateUse1",
    page="runtime/memory-streams",
)
def record_stream(d: Device) -> None:
    side = torch.Stream(d())
    d.warm(lambda: _ones(d).clone(), lambda: _zeros(d))
    x = _ones(d)
    side.wait_stream(torch.accelerator.current_stream())
    with side:
        d.slow()
        y = x.clone()
    x.record_stream(side)
    del x
    taken = [_zeros(d) for _ in range(4)]
    d.synchronize()
    same(y, torch.ones(SIZE, dtype=torch.uint8), "reused while the stream used it")
    check(len(taken) == 4, "")


@area.case(
    "Memory that does not suffice raises `torch.OutOfMemoryError`.",
    implement="TORCH_CHECK_WITH(OutOfMemoryError, ...), c10/util/Exception.h",
)
def out_of_memory(d: Device) -> None:
    kept = d.put(4.0)
    with refused(torch.OutOfMemoryError):
        torch.empty(1 << 46, dtype=torch.uint8, device=d.type)
    same(kept + d.put(1.0), torch.tensor([5.0]), "unusable behind the error")


def _fits(d: Device, size: int) -> bool:
    """Whether one allocation may be so large: some drivers limit its size."""
    try:
        torch.empty(size, dtype=torch.uint8, device=d.type)
    except torch.OutOfMemoryError:
        return False
    memory.empty_cache()
    return True


@area.case("Cached memory is released before an allocation fails.", "memory statistics")
def fragmentation(d: Device) -> None:
    free, _ = memory.get_memory_info()
    most = int(0.8 * free)
    pieces = next(filter(lambda count: _fits(d, most // count), (1, 2, 4, 8)), 1)
    for parts in (5 * pieces, 3 * pieces, 2 * pieces, pieces):
        size = most // parts
        kept = [
            torch.empty(size, dtype=torch.uint8, device=d.type) for _ in range(parts)
        ]
        check(len(kept) == parts, "")
        del kept


@area.case(
    "Free and total memory are known.",
    implement="c10::DeviceAllocator::getMemoryInfo, c10/core/CachingDeviceAllocator.h",
)
def memory_info(d: Device) -> None:
    for index in range(d.module.device_count()):
        free, total = memory.get_memory_info(index)
        check(0 < free <= total, f"{free} of {total} bytes are free")
        kept = torch.empty(128 << 20, dtype=torch.uint8, device=d(index))
        less, _ = memory.get_memory_info(index)
        check(less <= free - kept.numel() // 2, f"no memory of device {index} is used")

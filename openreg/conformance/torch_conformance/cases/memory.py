# Level 2: memory of the device and its storages; see docs/ship/conformance.md.
from __future__ import annotations

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused, same

area = Area(
    "memory",
    level=2,
    stage=2,
    page="operators/minimal",
    implement="aten::empty.memory_format and aten::empty_strided for PrivateUse1",
)
ALLOCATOR = "c10::Allocator or c10::DeviceAllocator, c10/core/CachingDeviceAllocator.h"
HOOKS = "ATen/detail/PrivateUse1HooksInterface.h"


@area.case("A new tensor has the shape, the dtype and the device that were asked for.")
def empty(d: Device) -> None:
    for shape in ((), (0,), (3,), (2, 0, 4), (5, 1, 7)):
        for dtype in (torch.uint8, torch.int64, torch.float32):
            x = torch.empty(shape, dtype=dtype, device=d.type)
            check(x.shape == shape and x.dtype == dtype, f"{x.shape}, {x.dtype}")
            check(x.device.type == d.type, f"a tensor of {d.type} on {x.device}")
            check(x.is_contiguous(), "a new tensor is not contiguous")


@area.case("Strides and memory formats are those that were asked for.")
def strides(d: Device) -> None:
    x = torch.empty_strided((2, 3), (1, 4), device=d.type)
    check(x.stride() == (1, 4), f"strides {x.stride()} instead of (1, 4)")
    held = x.untyped_storage().nbytes()
    check(held >= 40, f"a storage of {held} bytes for 10 elements of 4")
    y = torch.empty(2, 3, 4, 5, device=d.type, memory_format=torch.channels_last)
    check(y.is_contiguous(memory_format=torch.channels_last), f"{y.stride()}")
    check(torch.empty_like(y).stride() == y.stride(), "empty_like has other strides")


@area.case("Memory is that of the device of the tensor, not of the current device.")
def index(d: Device) -> None:
    found = torch.empty(1, device=d.type).device
    check(found == d(0) or d.type == "cpu", f"it is on {found} and not on {d(0)}")
    same_device = torch.empty(1, device=d(0)).device == found
    check(same_device, "a tensor of device 0 is elsewhere")


@area.case(
    "Memory on another device leaves the current device.",
    "two devices",
    implement="c10::DeviceGuard in the factory, c10/core/DeviceGuard.h",
)
def other_device(d: Device) -> None:
    x = torch.empty(4, device=d(1))
    check(x.device == d(1), f"it is on {x.device}")
    check(torch.accelerator.current_device_index() == 0, "the current device changed")
    with torch.accelerator.device_index(1):
        check(torch.empty(4, device=d.type).device == d(1), "not on the current device")
        check((x.cpu(), torch.empty_like(x))[1].device == d(1), "empty_like elsewhere")


@area.case("Tensors do not share memory.", implement=ALLOCATOR, page="runtime/memory")
def disjoint(d: Device) -> None:
    sizes = [1, 3, 16, 511, 512, 513, 4096, 70_001]
    made = [
        (torch.full((size,), 1 + i % 250, dtype=torch.uint8).to(d.type), 1 + i % 250)
        for i, size in enumerate(sizes * 16)
    ]
    for x, value in made:
        same(x, torch.full(x.shape, value, dtype=torch.uint8), "overwritten")


@area.case(
    "Memory is aligned for every dtype.", implement=ALLOCATOR, page="runtime/memory"
)
def aligned(d: Device) -> None:
    kept = [torch.empty(n, dtype=torch.uint8, device=d.type) for n in (1, 3, 17, 1001)]
    for x in kept:
        check(x.data_ptr() % 64 == 0, f"an address of {x.data_ptr() % 64} modulo 64")


@area.case(
    "Memory returns to the allocator together with the last tensor.",
    implement="the deleter of c10::DataPtr, c10/core/Allocator.h",
    page="runtime/memory",
)
def freed(d: Device) -> None:
    for _ in range(256):
        torch.empty(256 << 20, dtype=torch.uint8, device=d.type)
    for _ in range(64):
        x = torch.empty(256 << 20, dtype=torch.uint8, device=d.type)
        view = x[5:]
        del x
        check(view.untyped_storage().nbytes() == 256 << 20, "a view lost its storage")


@area.case(
    "A storage is resized, and keeps what it holds.",
    implement=f"PrivateUse1HooksInterface::resizePrivateUse1Bytes, {HOOKS}",
    page="runtime/storage",
)
def resize_storage(d: Device) -> None:
    x = d.put(1.0, 2.0)
    x.untyped_storage().resize_(64)
    check(x.untyped_storage().nbytes() == 64, "another size")
    same(x, torch.tensor([1.0, 2.0]), "lost behind resize_")
    x.untyped_storage().resize_(0)
    check(x.untyped_storage().nbytes() == 0, "memory is kept")


@area.case(
    "A tensor is resized, and takes the storage of another one.",
    implement="aten::resize_ and aten::set_ for PrivateUse1",
)
def resize_and_set(d: Device) -> None:
    x = d.put(1.0, 2.0).resize_(3)
    check(x.shape == (3,), f"the shape is {x.shape}")
    same(x[:2], torch.tensor([1.0, 2.0]), "lost behind resize_")
    y = torch.empty(0, device=d.type).set_(x)  # type: ignore[call-overload]
    check(y.data_ptr() == x.data_ptr(), "set_ copies")
    z = torch.empty(0, device=d.type).set_(x.untyped_storage())
    check(z.data_ptr() == x.data_ptr(), "set_ of a storage copies")


@area.case(
    "NumPy and Python see no device memory: they raise an error instead of a crash.",
    implement="nothing: PyTorch checks the device type",
)
def host_access(d: Device) -> None:
    x = d.put(1.0, 2.0)
    if d.type != "cpu":
        with refused(TypeError):
            x.numpy()
    check(x.tolist() == [1.0, 2.0], "tolist() returns other values")


@area.case(
    "A size that cannot be had raises an error; the device works behind it.",
    implement="TORCH_CHECK_WITH(OutOfMemoryError, ...), c10/util/Exception.h",
    page="runtime/memory",
)
def too_large(d: Device) -> None:
    with refused(RuntimeError, ValueError):
        torch.empty(1 << 50, dtype=torch.uint8, device=d.type)
    with refused(RuntimeError):
        torch.empty(-1, device=d.type)
    same(d.put(3.0), torch.tensor([3.0]), "unusable behind the error")

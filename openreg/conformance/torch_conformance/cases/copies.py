# Level 2: copies, views and what is read on the host; see docs/ship/conformance.md.
from __future__ import annotations

import copy

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same

area = Area(
    "copies",
    level=2,
    stage=2,
    page="operators/minimal-copies",
    implement="aten::_copy_from for PrivateUse1",
)
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex64, torch.complex128),
)


@area.case("Every dtype is copied to the device and back.")
def dtypes(d: Device) -> None:
    for dtype in DTYPES:
        host = torch.arange(7).to(dtype)
        there = d.on(host)
        check(there.dtype == dtype, f"{dtype} becomes {there.dtype}")
        same(there, host, str(dtype))


@area.case("The last byte arrives, whatever the size.")
def every_byte(d: Device) -> None:
    for size in (1, 2, 3, 7, 255, 4095, 4097, (1 << 20) + 1):
        host = torch.arange(size).to(torch.uint8) + 1
        there = d.on(host)
        same(there, host, f"{size} bytes")
        same(there.clone(), host, f"{size} bytes on the device")
        target = d.on(torch.zeros(size + 2, dtype=torch.uint8))
        target[1:-1].copy_(host)
        check(target[0].item() == 0 == target[-1].item(), "written outside of the view")
        same(target[1:-1], host, f"{size} bytes into a view")


@area.case("A copy respects strides on both sides, and what lies between stays.")
def layouts(d: Device) -> None:
    host = torch.arange(24.0).view(2, 3, 4)
    there = d.on(host)
    same(there.transpose(0, 2), host.transpose(0, 2), "transposed to the CPU")
    same(d.on(host.transpose(0, 2)), host.transpose(0, 2), "to the device")
    there[:, ::2].copy_(-host[:, ::2])
    expected = host.clone()
    expected[:, ::2] *= -1
    same(there, expected, "into a view with gaps")
    same(there[:, :, 1::2].contiguous(), expected[:, :, 1::2], "contiguous")


@area.case("A copy converts dtypes and repeats dimensions of size 1.")
def conversions(d: Device) -> None:
    host = torch.tensor([[-1.5, 0.0, 2.25]])
    for dtype in (torch.float64, torch.float16, torch.int32, torch.bool):
        same(d.on(host).to(dtype), host.to(dtype), f"to {dtype}")
        there = d.on(torch.zeros(2, 3, dtype=dtype))
        there.copy_(host)
        same(there, host.to(dtype).expand(2, 3), f"repeated, to {dtype}")
        back = torch.zeros(2, 3)
        back.copy_(there)
        same(back, host.to(dtype).expand(2, 3).float(), f"from {dtype}")


@area.case("A conjugated or negated view is copied as what it stands for.")
def lazy_bits(d: Device) -> None:
    host = torch.tensor([1 + 2j, 3 - 1j])
    there = d.on(host)
    same(there.conj(), host.conj().resolve_conj(), "conjugated")
    same(there.conj().imag, host.conj().imag.resolve_neg(), "negated")
    there.conj().copy_(host)
    same(there, host.conj().resolve_conj(), "written through a conjugated view")


@area.case("A copy between two devices arrives.", "two devices")
def between_devices(d: Device) -> None:
    host = torch.arange(1001.0)
    first = host.to(d(0))
    second = first.to(d(1))
    check(second.device == d(1), f"it is on {second.device}")
    same(second, host, "from device 0 to 1")
    first.zero_()
    first.copy_(second)
    same(first, host, "from device 1 to 0")
    same(second[::2].to(d(0)), host[::2], "with gaps")
    check(torch.accelerator.current_device_index() == 0, "the current device changed")


@area.case(
    "A view shares the memory of its tensor.",
    implement="aten::view and aten::as_strided for PrivateUse1",
)
def views(d: Device) -> None:
    host = torch.arange(12.0)
    there = d.on(host)
    changes = (
        lambda x: x.view(3, 4).t()[1].fill_(50),
        lambda x: x.as_strided((2, 2), (5, 1), 1).fill_(60),
        lambda x: x[::5].fill_(70),
        lambda x: x.unfold(0, 2, 4).select(0, 1).fill_(80),
        lambda x: x.view(4, 3).split(2)[1].unsqueeze(0).squeeze(0).select(1, 2).zero_(),
        lambda x: x.view(torch.int32)[3:4].fill_(5),
    )
    for number, change in enumerate(changes):
        change(host)
        change(there)
        same(there, host, f"view {number}")
    check(there.reshape(2, 6).data_ptr() == there.data_ptr(), "reshape copies")


@area.case(
    "Single elements are read and printed.",
    implement="aten::_local_scalar_dense for PrivateUse1",
)
def scalars(d: Device) -> None:
    check(d.put(3.5).item() == 3.5 and bool(d.put(True)), "item() is another number")
    check(d.put(1, 2, 3)[1].item() == 2, "item() of a view is another number")
    text = str(d.put(0.0, 1.0))
    check(text == f"tensor([0., 1.], device='{d(0)}')" or d.type == "cpu", text)


@area.case(
    "Copies of objects are independent.", implement="aten::clone, through _copy_from"
)
def deepcopies(d: Device) -> None:
    x = d.put(1.0, 2.0)
    for other in (x.clone(), copy.deepcopy(x), torch._lazy_clone(x)):
        check(other.device == x.device, f"a copy on {other.device}")
        other.fill_(5)
        same(x, torch.tensor([1.0, 2.0]), "changed through a copy")
        same(other, torch.tensor([5.0, 5.0]), "the copy")
    storage = x.untyped_storage()
    check(list(storage.cpu()) == list(torch.tensor([1.0, 2.0]).untyped_storage()), "?")

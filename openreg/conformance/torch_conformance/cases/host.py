# Level 4: pinned memory of the host; see docs/ship/conformance.md.
from __future__ import annotations

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same

area = Area(
    "host memory",
    level=4,
    stage=4,
    page="runtime/host-memory",
    implement="PrivateUse1HooksInterface::getPinnedMemoryAllocator and isPinnedPtr, "
    "ATen/detail/PrivateUse1HooksInterface.h",
)


@area.case("A pinned tensor says that it is pinned.", "pinned memory")
def pinned(d: Device) -> None:
    host = torch.arange(1000.0)
    check(not host.is_pinned(), "ordinary memory is pinned")
    there = host.pin_memory()
    check(there.is_pinned() and there[5:].is_pinned(), "it is not pinned")
    check(torch.equal(there, host), "the values changed")
    check(torch.empty(3, pin_memory=True).is_pinned(), "pin_memory=True has no effect")
    same(d.on(there), host, "copied to the device")


@area.case(
    "A copy from pinned memory is in the order of its stream; it need not wait.",
    "pinned memory",
    implement="aten::_copy_from with `non_blocking`",
)
def to_device(d: Device) -> None:
    host = torch.ones(1 << 16).pin_memory()
    x = torch.zeros(1 << 16, device=d.type)
    d.warm(lambda: x.fill_(0).copy_(host, non_blocking=True))
    early = d.returns_early(lambda: x.fill_(2).copy_(host, non_blocking=True))
    d.measure("copies from pinned memory are asynchronous", early)
    same(x, torch.ones(1 << 16), "other values")


@area.case(
    "A copy to pinned memory is there behind an event; it need not wait.",
    *("pinned memory", "events"),
    implement="aten::_copy_from with `non_blocking`",
)
def to_host(d: Device) -> None:
    host = torch.zeros(1 << 16).pin_memory()
    x = torch.zeros(1 << 16, device=d.type)
    d.warm(lambda: host.copy_(x.fill_(0), non_blocking=True))
    early = d.returns_early(lambda: host.copy_(x.fill_(1), non_blocking=True))
    d.measure("copies to pinned memory are asynchronous", early)
    torch.accelerator.current_stream().record_event().synchronize()
    check(torch.equal(host, torch.ones(1 << 16)), "not there behind the event")


@area.case(
    "A copy from or to pinned memory waits unless it is told not to.",
    "pinned memory",
    implement="aten::_copy_from without `non_blocking`",
)
def blocking(d: Device) -> None:
    host = torch.ones(1 << 16).pin_memory()
    x = torch.zeros(1 << 16, device=d.type)
    d.warm(lambda: host.copy_(x.copy_(host).fill_(1)))
    d.slow()
    x.copy_(host)
    host.zero_()
    same(x, torch.ones(1 << 16), "the source was read behind the return")
    d.slow()
    x.fill_(2)
    host.copy_(x)
    check(host[-1].item() == 2, "not there when the copy returns")


@area.case(
    "Pinned memory is not used again before the copy from it has run.",
    "pinned memory",
    implement="at::HostAllocator::record_event, ATen/core/CachingHostAllocator.h",
)
def reuse(d: Device) -> None:
    x = torch.zeros(1 << 16, device=d.type)
    d.warm(lambda: x.copy_(torch.zeros(1 << 16)))
    host = torch.ones(1 << 16).pin_memory()
    d.slow()
    x.copy_(host, non_blocking=True)
    del host
    for _ in range(4):
        torch.full((1 << 16,), 9.0, pin_memory=True)
    same(x, torch.ones(1 << 16), "overwritten before it was copied")


@area.case("A data loader pins its batches.", "pinned memory")
def data_loader(d: Device) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(12.0))
    for (batch,) in torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True):
        check(batch.is_pinned(), "a batch is not pinned")

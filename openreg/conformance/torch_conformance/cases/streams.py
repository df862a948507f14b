# Level 4: streams, and the order of work; see docs/ship/conformance.md.
from __future__ import annotations

import threading
import time
from typing import Any

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused, same
from torch_conformance._slow import SLOW

GUARD = "c10/core/impl/DeviceGuardImplInterface.h"
area = Area(
    "streams",
    level=4,
    stage=4,
    page="runtime/stream",
    implement=f"DeviceGuardImplInterface::getNewStream and exchangeStream, {GUARD}",
)
current = torch.accelerator.current_stream


@area.case("A new stream is not the default one, and belongs to its device.", "streams")
def create(d: Device) -> None:
    first, second = torch.Stream(d()), torch.Stream(d())
    check(first.device == d(0), f"a stream of {first.device}")
    check(first != current() != second, "a new stream is the default one")
    check(first != second, "two new streams are the same one")


@area.case("A context makes a stream current, and restores the one before.", "streams")
def context(d: Device) -> None:
    before, side = current(), torch.Stream(d())
    with refused(KeyError), side:
        check(current() == side, "the stream is not current inside")
        raise KeyError
    check(current() == before, "another stream is current behind the context")
    torch.accelerator.set_stream(side)
    check(current() == side, "set_stream() has no effect")


@area.case("Each thread has its own current stream.", "streams")
def threads(d: Device) -> None:
    before, seen = current(), list[torch.Stream]()
    with torch.Stream(d()):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    check(seen == [before], "a new thread does not start on the default stream")


@area.case(
    "Each device has a current stream; entering one of another device switches to it.",
    *("two devices", "streams"),
)
def other_device(d: Device) -> None:
    side = torch.Stream(d(1))
    with side:
        check(torch.accelerator.current_device_index() == 1, "the device is another")
        check(current() == side and current(0) != side, "another stream is current")
    check(torch.accelerator.current_device_index() == 0, "the device is not restored")
    check(current(1) != side, "the stream of device 1 is not restored")


@area.case(
    "Kernels that are launched behind a slow one run in order.",
    implement="launch on the current stream; a launch need not wait",
)
def launch(d: Device) -> None:
    x = d.put(1.0)
    d.warm(lambda: x.fill_(1.0))
    d.asynchronous()  # it is reported: a launch may wait
    d.slow()
    for value in (3.0, 4.0, 2.0):
        x.fill_(value)
    same(x, torch.tensor([2.0]), "behind a slow kernel")


@area.case("Work of one stream runs in its order.", "streams")
def in_order(d: Device) -> None:
    with torch.Stream(d()) as side:
        x = torch.zeros(1000, device=d.type)
        d.warm(lambda: x.fill_(0), x.clone)
        d.slow()
        x.fill_(1)
        y = x.clone()
        x.fill_(2)
        side.synchronize()
    same(y, torch.ones(1000), "a kernel read too early or too late")


def _idle(stream: torch.Stream) -> bool:
    """Whether a stream has no kernel; a driver may put a short mark on any stream."""
    end = time.perf_counter() + 0.3 * SLOW
    while not stream.query() and time.perf_counter() < end:
        time.sleep(0.001)
    return stream.query()


# LITERALINCLUDE START: CONFORMANCE_INDEPENDENT
@area.case(
    "Operators use the current stream, and the other streams have no work.",
    "streams",
    implement="launch on c10::impl::VirtualGuardImpl::getStream, "
    "c10/core/impl/VirtualGuardImpl.h",
)
def independent(d: Device) -> None:
    side, other = torch.Stream(d()), torch.Stream(d())
    asynchronous = d.asynchronous()
    with side:
        d.slow()
    check(not (asynchronous and side.query()), "a busy stream has no work")
    check(_idle(other), "the work of a stream is on another one as well")
    check(_idle(current()), "the work of a side stream runs on the default stream")
    d.synchronize()
    d.overlap()  # it is reported: one compute unit runs one kernel at a time


# LITERALINCLUDE END: CONFORMANCE_INDEPENDENT
@area.case(
    "Synchronizing a stream waits for its work.",
    "streams",
    implement=f"DeviceGuardImplInterface::synchronizeStream and queryStream, {GUARD}",
)
def synchronize(d: Device) -> None:
    side = torch.Stream(d())
    check(side.query(), "a new stream has work")
    d.warm()
    d.check_waits(side.synchronize, stream=side)
    check(side.query(), "there is work behind the wait")


@area.case(
    "Synchronizing the device waits for all of its streams.",
    "streams",
    implement="`synchronize()` of the device module; "
    f"DeviceGuardImplInterface::synchronizeDevice, {GUARD}",
)
def synchronize_device(d: Device) -> None:
    d.warm()
    for wait in (torch.accelerator.synchronize, d.module.synchronize):
        d.synchronize()
        side = torch.Stream(d())
        d.check_waits(wait, stream=side)
        check(side.query(), "a stream has work behind the wait")


@area.case("A stream waits for another one where it is told to.", "streams")
def wait_stream(d: Device) -> None:
    side, other = torch.Stream(d()), torch.Stream(d())
    x, y = torch.zeros(64, device=d.type), torch.zeros(64, device=d.type)
    d.warm(lambda: y.copy_(x.fill_(0)))
    with side:
        d.slow()
        x.fill_(1)
    other.wait_stream(side)
    with other:
        y.copy_(x)
    other.synchronize()
    same(y, torch.ones(64), "read before the other stream had written")


@area.case(
    "A copy to the CPU, and `item()`, wait for the work that makes the tensor.",
    implement="aten::_copy_from and aten::_local_scalar_dense wait for their stream",
    page="operators/minimal-copies",
)
def copies_wait(d: Device) -> None:
    x = torch.zeros(8, device=d.type)
    d.warm(lambda: x.fill_(0)[7].item())
    for value in (3.0, 4.0):
        d.slow()
        x.fill_(value)
        if value == 3.0:
            same(x, torch.full((8,), value), "copied too early")
        else:
            check(x[7].item() == value, "item() reads too early")


@area.case(
    "A copy from the CPU has read its source when it returns.",
    implement="aten::_copy_from waits unless `non_blocking` and pinned",
    page="operators/minimal-copies",
)
def source_read(d: Device) -> None:
    host, x = torch.ones(1 << 16), torch.zeros(1 << 16, device=d.type)
    d.warm(lambda: x.copy_(host).zero_())
    d.slow()
    x.copy_(host)
    host.zero_()
    same(x, torch.ones(1 << 16), "the source was read behind the return")


@area.case(
    "A copy between devices waits for the source, and the source for the copy.",
    "two devices",
    implement="aten::_copy_from: an event of each device, before and behind the copy",
    page="operators/minimal-copies",
)
def between_devices(d: Device) -> None:
    x = torch.zeros(4096, device=d(0))
    d.warm(lambda: x.fill_(0).to(d(1)) + 0)
    d.slow()
    x.fill_(1)
    y = x.to(d(1), non_blocking=True)
    z = y + 0
    x.zero_()
    same(z, torch.ones(4096), "copied too early")
    with torch.accelerator.device_index(1):
        d.slow()
        y.fill_(2)
    x.copy_(y)
    same(x, torch.full((4096,), 2.0), "copied before the other device had written")


@area.case(
    "A backward pass runs on the streams of the forward pass, and the caller waits.",
    "streams",
    implement=f"DeviceGuardImplInterface::getStream, record and block, {GUARD}",
)
def backward(d: Device) -> None:
    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            used.append(current())
            d.slow()
            return gradients[0] * 2

    used = list[torch.Stream]()
    x = torch.ones(8, device=d.type, requires_grad=True)
    d.warm(lambda: (x * 2).sum().backward())
    x.grad = None
    side = torch.Stream(d())
    side.wait_stream(current())
    with side:
        y = Slow.apply(x)
    current().wait_stream(side)
    y.sum().backward()
    check(used == [side], "the backward pass runs on another stream")
    same(x.grad, torch.full((8,), 2.0), "the caller does not wait for the gradient")

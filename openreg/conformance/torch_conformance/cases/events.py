# Level 4: events; see docs/ship/conformance.md.
from __future__ import annotations

import time

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused, same
from torch_conformance._slow import SLOW

GUARD = "c10/core/impl/DeviceGuardImplInterface.h"
area = Area(
    "events",
    level=4,
    stage=4,
    page="runtime/event",
    implement=f"DeviceGuardImplInterface::record, {GUARD}",
)


@area.case(
    "An event is complete only when the work before it has run.",
    "events",
    implement=f"DeviceGuardImplInterface::record and queryEvent, {GUARD}",
)
def query(d: Device) -> None:
    event = torch.Event(d.type)
    check(event.query(), "an event that was never recorded is not complete")
    asynchronous = d.asynchronous()
    for _ in range(2):  # recording it again replaces the mark
        d.slow()
        event.record()
        early = asynchronous and event.query()
        check(not early, "complete while the kernel before it runs")
        d.synchronize()
        check(event.query(), "not complete behind the wait for the device")


@area.case(
    "Synchronizing an event waits for the work before it.",
    "events",
    implement=f"DeviceGuardImplInterface::synchronizeEvent, {GUARD}",
)
def synchronize(d: Device) -> None:
    event = torch.Event(d.type)
    d.warm(event.record)
    d.check_waits(event.record, event.synchronize)
    check(event.query(), "not complete behind the wait")


@area.case(
    "A stream waits for an event of another stream.",
    *("streams", "events"),
    implement=f"DeviceGuardImplInterface::record and block, {GUARD}",
)
def wait(d: Device) -> None:
    x, y = torch.zeros(64, device=d.type), torch.zeros(64, device=d.type)
    side = torch.Stream(d())
    d.warm(lambda: y.copy_(x.fill_(0)))
    d.slow()
    x.fill_(1)
    event = torch.Event(d.type)
    event.record()
    side.wait_event(event)
    with side:
        y.copy_(x)
    side.synchronize()
    same(y, torch.ones(64), "read before the other stream had written")


@area.case(
    "An event is recorded on the stream that is named, not on the current one.",
    *("streams", "events"),
)
def stream(d: Device) -> None:
    side = torch.Stream(d())
    asynchronous, overlap = d.asynchronous(), d.overlap()
    d.slow()
    event = side.record_event()
    event.synchronize()
    waited = overlap and torch.accelerator.current_stream().query()
    check(not waited, "it waits for another stream")
    d.synchronize()
    with side:
        d.slow()
    event = torch.Event(d.type)
    event.record(side)
    early = asynchronous and event.query()
    check(not early, "it is not recorded on the stream that is named")


@area.case(
    "A stream waits for an event of another device.",
    *("two devices", "events"),
    implement=f"DeviceGuardImplInterface::block, {GUARD}",
)
def other_device(d: Device) -> None:
    x, y = torch.zeros(64, device=d(0)), torch.zeros(64, device=d(1))
    d.warm(lambda: y.copy_(x.fill_(0)))
    d.slow()
    x.fill_(1)
    event = torch.accelerator.current_stream(0).record_event()
    torch.accelerator.current_stream(1).wait_event(event)
    with torch.accelerator.device_index(1):
        end = torch.accelerator.current_stream(1).record_event()
    end.synchronize()
    check(event.query(), "device 1 does not wait for device 0")
    y.copy_(x)
    same(y, torch.ones(64), "another value")


@area.case(
    "Events measure the time between them.",
    "events",
    implement=f"DeviceGuardImplInterface::elapsedTime, {GUARD}",
)
def elapsed_time(d: Device) -> None:
    start, end = (torch.Event(d.type, enable_timing=True) for _ in range(2))
    d.warm(start.record, end.record)
    before = time.perf_counter()
    start.record()
    d.slow()
    end.record()
    end.synchronize()
    most = 1000 * (time.perf_counter() - before)
    measured = start.elapsed_time(end)
    least = 700 * SLOW
    check(measured > least, f"{measured:.1f} ms for a kernel of {1000 * SLOW:.0f} ms")
    check(measured <= 1.1 * most, f"{measured:.1f} ms, but only {most:.1f} ms passed")


@area.case(
    "Events without timing, or that were never recorded, have no time.",
    "events",
    implement=f"DeviceGuardImplInterface::elapsedTime, {GUARD}",
)
def no_time(d: Device) -> None:
    untimed = [torch.Event(d.type) for _ in range(2)]
    timed = [torch.Event(d.type, enable_timing=True) for _ in range(2)]
    for event in untimed:
        event.record()
    d.synchronize()
    for first, second in (untimed, timed):
        with refused(RuntimeError, ValueError):
            first.elapsed_time(second)

# Level 1: devices, the current one and the guard; see docs/ship/conformance.md.
from __future__ import annotations

import threading

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused

area = Area(
    "device",
    level=1,
    stage=1,
    page="runtime/guard",
    implement="c10::impl::DeviceGuardImplInterface, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
current = torch.accelerator.current_device_index


@area.case(
    "The module and the guard count the same devices.",
    implement="DeviceGuardImplInterface::deviceCount, "
    "c10/core/impl/DeviceGuardImplInterface.h",
    page="runtime/device",
)
def count(d: Device) -> None:
    check(
        torch.accelerator.device_count() == d.module.device_count(),
        f"{torch.accelerator.device_count()} and {d.module.device_count()} devices",
    )


@area.case(
    "The device is the accelerator of this process.",
    implement="PrivateUse1HooksInterface::isAvailable, "
    "ATen/detail/PrivateUse1HooksInterface.h",
    page="frontend/accelerator-api",
)
def accelerator(d: Device) -> None:
    found = torch.accelerator.current_accelerator(check_available=True)
    check(found is not None and found.type == d.type, f"the accelerator is {found}")


@area.case(
    "Device 0 is current at first, and has a current stream.",
    implement="DeviceGuardImplInterface::getStream, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
def first_device(d: Device) -> None:
    check(current() == 0, f"device {current()} is current at first")
    stream = torch.accelerator.current_stream()
    check(stream.device == d(0), f"the current stream is one of {stream.device}")


@area.case(
    "The module sees that the current device was set.",
    "two devices",
    implement="DeviceGuardImplInterface::setDevice, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
def set_device(d: Device) -> None:
    torch.accelerator.set_device_index(1)
    check(current() == 1, f"device {current()} is current")
    check(d.module.current_device() == 1, "the module returns another device")
    stream = torch.accelerator.current_stream()
    check(stream.device == d(1), f"the current stream is one of {stream.device}")
    d.module.set_device(0)
    check(current() == 0, "set_device() of the module has no effect")


@area.case(
    "A context restores the device, also behind an exception.",
    "two devices",
    implement="DeviceGuardImplInterface::exchangeDevice and uncheckedSetDevice, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
def context(d: Device) -> None:
    with refused(KeyError), torch.accelerator.device_index(1):
        check(current() == 1, f"device {current()} is current inside")
        raise KeyError
    check(current() == 0, f"device {current()} is current behind the context")


@area.case(
    "`torch.<name>.device` is a context, for `torch.load` and others.",
    "two devices",
    implement="class `device` of the device module",
    page="frontend/device-module",
)
def module_context(d: Device) -> None:
    with d.module.device(1):
        check(current() == 1, f"device {current()} is current inside")
    check(current() == 0, f"device {current()} is current behind the context")


@area.case(
    "Each thread has its own current device.",
    "two devices",
    implement="DeviceGuardImplInterface::setDevice, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
def threads(d: Device) -> None:
    torch.accelerator.set_device_index(1)
    seen: list[int] = []

    def other() -> None:
        seen.append(current())
        torch.accelerator.set_device_index(0)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    check(seen == [0], f"a new thread starts on device {seen}")
    check(current() == 1, "another thread changed the device of this one")


@area.case(
    "A device that is not there raises an error and leaves the current one.",
    implement="DeviceGuardImplInterface::setDevice, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
def no_such_device(d: Device) -> None:
    with refused(RuntimeError, ValueError):
        torch.accelerator.set_device_index(d.module.device_count())
    check(current() == 0, f"device {current()} is current behind the error")


@area.case(
    "Synchronizing another device leaves the current one.",
    implement="`synchronize()` of the device module; "
    "DeviceGuardImplInterface::synchronizeDevice, "
    "c10/core/impl/DeviceGuardImplInterface.h",
)
def synchronize(d: Device) -> None:
    for index in range(d.module.device_count()):
        torch.accelerator.synchronize(index)
        d.module.synchronize(index)
        check(current() == 0, f"device {current()} is current behind the wait")

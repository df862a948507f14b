# Level 2: files and processes; see docs/ship/conformance.md.
from __future__ import annotations

import io
import os
import warnings

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused, same

area = Area(
    "serialization",
    level=2,
    stage=2,
    page="frontend/serialization",
    implement="`torch.<name>.device`, `device_count` and `_lazy_init` of the module; "
    "torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)",
)


def _saved(value: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@area.case("A saved tensor returns to its device, with its values.")
def save_and_load(d: Device) -> None:
    host = torch.arange(6.0).view(2, 3)
    x = d.on(host)
    y = torch.load(_saved(x))
    check(y.device == x.device, f"it is on {y.device}")
    same(y, host, "loaded")
    check(torch.load(_saved(x.t())).stride() == x.t().stride(), "the strides changed")


@area.case("`map_location` sends tensors to and from the device.")
def map_location(d: Device) -> None:
    host = torch.arange(3.0)
    on_cpu = torch.load(_saved(d.on(host)), map_location="cpu")
    check(on_cpu.device.type == "cpu", f"it is on {on_cpu.device}")
    same(on_cpu, host, "loaded to the CPU")
    there = torch.load(_saved(host), map_location=d.type)
    check(there.device.type == d.type, f"it is on {there.device}")
    same(there, host, "loaded to the device")


@area.case("A tensor of device 1 returns to device 1.", "two devices")
def index(d: Device) -> None:
    x = torch.arange(3.0).to(d(1))
    check(torch.load(_saved(x)).device == d(1), "it is elsewhere")
    moved = torch.load(_saved(x), map_location={f"{d.type}:1": f"{d.type}:0"})
    check(moved.device == d(0), f"it is on {moved.device}")


@area.case("Tensors that share a storage share it behind the load.")
def shared(d: Device) -> None:
    x = torch.arange(4.0).to(d.type)
    first, second = torch.load(_saved([x, x[2:]]))
    second.fill_(9)
    same(first, torch.tensor([0.0, 1.0, 9.0, 9.0]), "not shared")


@area.case("The state of a module is saved and restored.")
def state_dict(d: Device) -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    weight = model.weight.detach().clone()
    state = torch.load(_saved(model.to(d.type).state_dict()))
    other = torch.nn.Linear(3, 2).to(d.type)
    other.load_state_dict(state)
    same(other.weight.detach(), weight, "weight")


@area.case(
    "A child that is forked before any use of the device can use it.",
    implement="start the driver with the first use, not with the import",
    page="frontend/multiprocessing",
)
def fork_before_use(d: Device) -> None:
    check(
        _forked(d) == "1.0", "a child cannot use the device: it was started too early"
    )


@area.case(
    "A child that is forked behind the first use works, or raises an error.",
    implement="`_is_in_bad_fork()` and `_lazy_init()` of the device module",
    page="frontend/multiprocessing",
)
def fork_after_use(d: Device) -> None:
    d.put(1.0)
    answer = _forked(d)
    check(answer == "1.0" or answer.startswith("RuntimeError"), f"it ends: {answer}")


def _forked(d: Device) -> str:
    """What a child process reads from a tensor, or its error."""
    end, start = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            text = str(d.put(1.0).item())
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        os.write(start, text.encode())
        os._exit(0)
    os.close(start)
    with os.fdopen(end) as pipe:
        answer = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return answer or f"status {status}"


@area.case("A file for a device that is not there raises an error that says so.")
def no_such_device(d: Device) -> None:
    if d.type == "cpu":
        return
    file = _saved(torch.ones(1).to(d.type))
    with refused(RuntimeError, saying="device"):
        torch.load(file, map_location=f"{d.type}:{d.module.device_count() + 7}")

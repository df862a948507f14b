# Level 0: the name, the module and how they are loaded; see docs/ship/conformance.md.
from __future__ import annotations

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused
from torch_conformance._load import load

area = Area(
    "registration",
    level=0,
    stage=0,
    page="frontend/naming",
    implement="torch.utils.rename_privateuse1_backend",
)
BUILT_IN = ("cpu", "cuda", "mps", "xpu")


@area.case(
    "`import torch` loads the backend by itself, through an entry point.",
    implement="entry point `torch.backends` in setup.py or pyproject.toml",
    page="frontend/autoload",
    loads=False,
)
def autoload(d: Device) -> None:
    load(None)
    check(torch.device(d.type).type == d.type, "another device type")
    torch.get_device_module(d.type)


@area.case("`torch.device` accepts the name, with and without an index.")
def name(d: Device) -> None:
    check(torch.device(d.type).index is None, "an index without one in the text")
    device = torch.device(f"{d.type}:3")
    check((device.type, device.index) == (d.type, 3), f"it is {device}")
    check(str(device) == f"{d.type}:3", f"it prints as {device}")
    check(device == torch.device(d.type, 3), "two equal devices differ")


@area.case("The name belongs to the device type: no second name is given to it.")
def one_name(d: Device) -> None:
    if d.type in BUILT_IN:
        return
    check(
        torch._C._get_privateuse1_backend_name() == d.type,
        f"PrivateUse1 is {torch._C._get_privateuse1_backend_name()}",
    )
    with refused(RuntimeError):
        torch.utils.rename_privateuse1_backend("another_name")


@area.case(
    "`torch.<name>` is the module of the device.",
    implement="torch._register_device_module",
    page="frontend/device-module",
)
def module(d: Device) -> None:
    check(getattr(torch, d.type, None) is d.module, f"torch.{d.type} is not the module")
    check(d.module.is_available() is True, "is_available() is not True")
    check(isinstance(d.module.device_count(), int), "device_count() is no number")
    check(d.module.device_count() > 0, "device_count() is 0")


@area.case(
    "Tensors, modules and storages have `.<name>()` and `is_<name>`.",
    implement="torch.utils.generate_methods_for_privateuse1_backend",
)
def methods(d: Device) -> None:
    for class_ in (torch.Tensor, torch.nn.Module, torch.nn.utils.rnn.PackedSequence):
        check(hasattr(class_, d.type), f"{class_.__name__} has no method {d.type}()")
    check(hasattr(torch.UntypedStorage, d.type), f"storages have no method {d.type}()")
    check(getattr(torch.ones(1), f"is_{d.type}") is (d.type == "cpu"), "wrong is_...")


@area.case(
    "Operators can be registered for the dispatch key of the device.",
    implement="TORCH_LIBRARY_IMPL(aten, PrivateUse1, m), torch/library.h",
    page="operators/registration",
)
def dispatch_key(d: Device) -> None:
    key = torch._C._dispatch_key_for_device(d.type)
    with torch.library._scoped_library("conformance", "DEF") as library:
        library.define("probe(int number) -> int")
        library.impl("probe", lambda number: number + 1, key)
        check(
            torch._C._dispatch_has_kernel_for_dispatch_key("conformance::probe", key),
            f"no kernel for {key}",
        )


@area.case(
    "The module says whether a forked child may use the device.",
    implement="`_is_in_bad_fork()` of the device module",
    page="frontend/multiprocessing",
)
def fork_question(d: Device) -> None:
    if d.type == "cpu":
        return
    check(d.module._is_in_bad_fork() is False, "it is in a bad fork before any use")

# Level 5: operators of the device, without a fallback; see docs/ship/conformance.md.
from __future__ import annotations

from collections.abc import Callable

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same
from torch_conformance._dispatch import is_native, named, partner_of
from torch_conformance._outcome import Missing

area = Area(
    "native operators",
    level=5,
    stage=5,
    page="operators/structured",
    implement="TORCH_LIBRARY_IMPL(aten, PrivateUse1, m), torch/library.h",
)
OUT: dict[str, Callable[..., torch.Tensor]] = {
    "add.Tensor": lambda a, b, *_, **o: torch.add(a, b, alpha=2, **o),
    "sub.Tensor": lambda a, b, *_, **o: torch.sub(a, b, **o),
    "mul.Tensor": lambda a, b, *_, **o: torch.mul(a, b, **o),
    "div.Tensor": lambda a, b, *_, **o: torch.div(a, b, **o),
    "exp": lambda a, *_, **o: torch.exp(a, **o),
    "mm": lambda a, b, c, *_, **o: torch.mm(a, c, **o),
    "addmm": lambda a, b, c, d, **o: torch.addmm(d, a, c, **o),
    "cat": lambda a, b, *_, **o: torch.cat([a, b], **o),
    "sum.dim_IntList": lambda a, *_, **o: torch.sum(a, 1, **o),
}
HOT = (
    *("add.Tensor", "mul.Tensor", "div.Tensor", "sub.Tensor", "mm", "addmm", "bmm"),
    *("sum.dim_IntList", "mean.dim", "relu", "threshold_backward", "gelu", "exp"),
    *("fill_.Scalar", "_softmax", "_log_softmax", "where.self", "cat", "index.Tensor"),
)


@area.case("The operators of every network have kernels of the device.")
def kernels(d: Device) -> None:
    key = torch._C._dispatch_key_for_device(d.type)
    absent = [name for name in HOT if not is_native(named(name), key)]
    if absent:
        raise Missing(f"no kernel for {', '.join(absent)}")


@area.case(
    "An operator with `out=` returns what it returns without, and runs where it does.",
    implement="the overload `out` for PrivateUse1: torch's defaults of a structured "
    "operator call it",
    page="operators/registration",
)
def out(d: Device) -> None:
    a = torch.tensor([[1.0, -2.0, 3.5], [0.5, 4.0, -1.0]])
    hosts = [a, a.flip(0) + 2.25, a.view(3, 2), torch.tensor([1.0, -1.0])]
    inputs = [d.on(host) for host in hosts]
    key, absent = torch._C._dispatch_key_for_device(d.type), []
    for name, call in OUT.items():
        d.step(name)
        expected = call(*hosts)
        same(call(*inputs), expected, f"{name} without out=")
        turned = torch.empty(expected.shape[::-1], device=d.type).t()
        for result in (turned, torch.empty(0, device=d.type)):  # which is resized
            strides = result.stride() if result is turned else expected.stride()
            returned = call(*inputs, out=result)
            check(returned is result, f"{name}: another tensor is returned")
            check(result.stride() == strides, f"{name}: strides {result.stride()}")
            same(result, expected, f"{name} with out=")
        forms = [named(name), partner_of(named(name))]
        native = [form for form in forms if is_native(form, key)]
        if len(native) == 1:  # the other one leaves the device
            absent += [form.name() for form in forms if form not in native]
    if absent:
        raise Missing(f"no kernel for {', '.join(absent)}")


@area.case(
    "Tensors of two devices in one operator raise an error.",
    implement="c10::impl::check_and_update_common_device, "
    "ATen/core/op_registration/adaption.h",
)
def mixed_devices(d: Device) -> None:
    host = torch.ones(3)
    x = d.on(host)
    if d.type == "cpu":
        raise Missing("the CPU is the other device")
    for name, call in {
        "add": lambda: x + host,
        "mm": lambda: x.view(3, 1) @ host.view(1, 3),
        "cat": lambda: torch.cat([x, host]),
    }.items():
        try:
            call()
        except RuntimeError:
            continue
        raise AssertionError(f"{name}: no error for a tensor on the CPU")
    same(x + torch.tensor(2.0), host + 2, "with a CPU tensor without dimensions")


@area.case(
    "Deterministic mode fills new memory.",
    implement="at::globalContext().deterministicFillUninitializedMemory(), "
    "ATen/Context.h",
)
def deterministic(d: Device) -> None:
    torch.use_deterministic_algorithms(True)
    x = torch.empty(100, device=d.type)
    torch.use_deterministic_algorithms(False)
    same(x, torch.full((100,), float("nan")), "memory is not filled")

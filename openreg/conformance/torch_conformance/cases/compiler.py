# Level 5: torch.compile; see docs/ship/conformance.md.
from __future__ import annotations

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same

area = Area(
    "compiler",
    level=5,
    stage=None,
    page="modules/compile-dynamo",
    implement="torch._dynamo.device_interface.register_interface_for_device",
)


def _model(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x.sin() + y).softmax(-1) @ y.t()


def _compare(d: Device, backend: str) -> None:
    torch.manual_seed(0)
    host = [torch.randn(4, 6, requires_grad=True) for _ in range(2)]
    there = [d.on(x.detach()).requires_grad_() for x in host]
    compiled = torch.compile(_model, backend=backend, fullgraph=True)
    expected, actual = _model(*host), compiled(*there)
    check(actual.device.type == d.type, f"the result is on {actual.device}")
    same(actual.detach(), expected.detach(), "result")
    expected.sum().backward()
    actual.sum().backward()
    for ours, theirs in zip(there, host, strict=True):
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-3, atol=1e-4)  # type: ignore[union-attr]


@area.case("Dynamo and AOTAutograd trace a function with its gradients.")
def dynamo(d: Device) -> None:
    _compare(d, "aot_eager")


@area.case(
    "Inductor compiles for the device.",
    implement="torch._inductor.codegen.common.register_backend_for_device",
    page="modules/compile-inductor",
    seconds=300,
)
def inductor(d: Device) -> None:
    _compare(d, "inductor")

# Level 3: gradients against the CPU; see docs/ship/conformance.md.
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same

area = Area(
    "autograd",
    level=3,
    stage=3,
    page="operators/autograd",
    implement="nothing as a rule: formulas call operators of the device; "
    "TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m), torch/library.h",
)


def _gradients(
    d: Device, function: Callable[[torch.Tensor, torch.Tensor], Any]
) -> None:
    """Compare the gradients of a function of two matrices with those of the CPU."""
    torch.manual_seed(3)
    host = [torch.randn(4, 4, requires_grad=True) for _ in range(2)]
    there = [d.on(x.detach()).requires_grad_() for x in host]
    for inputs in (host, there):
        function(*inputs).sum().backward()
    for ours, theirs in zip(there, host, strict=True):
        found = ours.grad is not None and ours.grad.device.type
        check(found == d.type, f"the device of a gradient is {found}")
        same(ours.grad, theirs.grad, "gradient")


@area.case("Gradients have the values of the CPU.")
def backward(d: Device) -> None:
    _gradients(d, lambda a, b: (a @ b).tanh() * a.softmax(1) + b.exp().cumsum(0))
    _gradients(d, lambda a, b: F.layer_norm(a, (4,)) @ F.gelu(b))
    _gradients(d, lambda a, b: a[:, ::2].t() * torch.cat([b[1:2], a[:1]], 0))


@area.case("Gradients of gradients have the values of the CPU.")
def double_backward(d: Device) -> None:
    def second(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        (first,) = torch.autograd.grad((a.pow(3) @ b).sum(), a, create_graph=True)
        return first * b

    _gradients(d, second)


@area.case("Gradients accumulate, also in tensors that are views of one storage.")
def accumulation(d: Device) -> None:
    def twice(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        (a * b).sum().backward()
        return a * a + b.t()

    _gradients(d, twice)


@area.case("Your own function works on the device.")
def functions(d: Device) -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return 3 * x * x * gradients[0]

    _gradients(d, lambda a, b: Cube.apply(a) @ b)


@area.case(
    "A backward pass crosses devices.",
    "two devices",
    implement="PrivateUse1HooksInterface::hasPrimaryContext, "
    "ATen/detail/PrivateUse1HooksInterface.h",
    page="runtime/hooks",
)
def across_devices(d: Device) -> None:
    x = torch.ones(3).to(d(1)).requires_grad_()
    (x.to(d(0)) * torch.arange(3.0).to(d(0))).sum().backward()
    check(x.grad is not None and x.grad.device == d(1), "no gradient on device 1")
    same(x.grad, torch.arange(3.0), "gradient")
    check(torch.accelerator.current_device_index() == 0, "the current device changed")


@area.case(
    "Threads run backward passes at the same time.",
    implement="a guard and an allocator that several threads may call at once",
)
def threads(d: Device) -> None:
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            generator = torch.Generator().manual_seed(seed)
            host = torch.randn(16, 16, generator=generator)
            for _ in range(5):
                x = d.on(host).requires_grad_()
                (x @ x).sum().backward()
                expected = host.sum(1).expand(16, 16) + host.sum(0).view(16, 1)
                same(x.grad, expected, f"thread {seed}")
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]

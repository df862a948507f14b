# Level 3: operators, native or by fallback; see docs/ship/conformance.md.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch.utils._pytree import tree_leaves, tree_map

from torch_conformance._case import Area
from torch_conformance._device import Device, check, refused, same

area = Area(
    "operators",
    level=3,
    stage=3,
    page="operators/fallback",
    implement="torch::CppFunction::makeFromBoxedFunction for the key PrivateUse1, "
    "torch/library.h; at::native::cpu_fallback, ATen/native/CPUFallback.h",
)
Calls = dict[str, Callable[..., Any]]


def compare(d: Device, calls: Calls, *inputs: torch.Tensor) -> None:
    """Call functions on the CPU and on the device, and compare all results."""
    for name, call in calls.items():
        d.step(name)
        expected = tree_leaves(call(*(x.clone() for x in inputs)))
        actual = tree_leaves(call(*tree_map(d.on, inputs)))
        for theirs, ours in zip(expected, actual, strict=True):
            if not isinstance(theirs, torch.Tensor):
                check(theirs == ours, f"{name}: {ours} instead of {theirs}")
                continue
            check(ours.device.type == d.type, f"{name}: the result is on {ours.device}")
            same(ours, theirs, name)


def _numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7))


@area.case("Element-wise operators return the values of the CPU.")
def pointwise(d: Device) -> None:
    calls: Calls = {
        "add": lambda a, b: a + b,
        "sub with alpha": lambda a, b: torch.sub(a, b, alpha=3),
        "div": lambda a, b: a / b,
        "number // tensor": lambda a, b: 2 // b,
        "exp and tanh": lambda a, b: (a.exp(), b.tanh()),
        "where": lambda a, b: torch.where(a > b, a, b),
        "comparison": lambda a, b: (a < 0.5) | (b >= 0),
        "clamp": lambda a, b: a.clamp(-0.5, 0.5),
        "addcmul": lambda a, b: torch.addcmul(a, a, b, value=2),
        "gelu": lambda a, b: F.gelu(a),
        "threshold": lambda a, b: F.relu(a) + F.silu(b),
    }
    compare(d, calls, _numbers(3, 5), _numbers(3, 5))
    compare(d, calls, _numbers(5, 3).t(), _numbers(3, 10)[:, ::2])


@area.case("Shapes broadcast and dtypes are promoted.")
def promotion(d: Device) -> None:
    x, n = _numbers(4, 1, 3), torch.arange(1, 6).view(5, 1)
    calls: Calls = {
        "float and int": lambda a, b: a * b,
        "int and a number": lambda a, b: b + 1.5,
        "int / int": lambda a, b: b / (b + 1),
        "bool": lambda a, b: (a > 0) + b,
        "0 dimensions": lambda a, b: a.sum() + b,
        "half and float": lambda a, b: a.half() + a,
    }
    compare(d, calls, x, n)


@area.case("Reductions return the values of the CPU.")
def reductions(d: Device) -> None:
    calls: Calls = {
        "sum": lambda a: (a.sum(), a.sum(1), a.sum((0, 2), keepdim=True)),
        "mean and var": lambda a: (a.mean(-1), a.var(0), a.std()),
        "max": lambda a: (a.max(), a.max(1), a.argmin(2)),
        "norm": lambda a: (a.norm(), torch.linalg.vector_norm(a, 1, dim=0)),
        "all and any": lambda a: ((a > 0).all(1), (a > 0).any()),
        "cumsum": lambda a: a.cumsum(1),
        "softmax": lambda a: (a.softmax(-1), a.log_softmax(0), a.logsumexp(1)),
        "sum of integers": lambda a: (a * 10).to(torch.int32).sum(0),
    }
    compare(d, calls, _numbers(4, 6, 5))
    compare(d, calls, _numbers(5, 6, 4).transpose(0, 2))


@area.case("Products of matrices return the values of the CPU.")
def products(d: Device) -> None:
    calls: Calls = {
        "mm": lambda a, b: a[0] @ b[0],
        "mm of transposed": lambda a, b: b[0].t() @ a[0].t(),
        "bmm": lambda a, b: torch.bmm(a, b),
        "addmm": lambda a, b: torch.addmm(a[0, 0, :1], a[0], b[0], beta=2, alpha=3),
        "matmul": lambda a, b: (a @ b[0], a[0, 0] @ b, a[0, 0] @ a[0, 1]),
        "einsum": lambda a, b: torch.einsum("bij,bjk->ik", a, b),
        "linear": lambda a, b: F.linear(a, a[0], a[0, :, 0]),
    }
    compare(d, calls, _numbers(3, 4, 5), _numbers(3, 5, 6))


@area.case("Elements are gathered, scattered, sorted and joined.")
def indexing(d: Device) -> None:
    calls: Calls = {
        "index": lambda a, i: (a[i], a[:, i % 3], a[a > 0]),
        "index_put": lambda a, i: a.index_put((i,), a[i] * 2),
        "gather": lambda a, i: a.gather(0, i.view(-1, 1).expand(-1, 4)),
        "scatter_add": lambda a, i: a.scatter_add(0, i.view(-1, 1), a),
        "index_select": lambda a, i: a.index_select(0, i),
        "masked_fill": lambda a, i: a.masked_fill(a > 0, 9.0),
        "sort": lambda a, i: (a.sort(1), a.topk(2), a.argsort(0)),
        "nonzero": lambda a, i: (a > 0).nonzero(),
        "cat and stack": lambda a, i: (torch.cat([a, a], 1), torch.stack([a, -a])),
        "flip, roll, tril": lambda a, i: (a.flip(0), a.roll(1), a.tril()),
        "embedding": lambda a, i: F.embedding(i, a),
        "unique": lambda a, i: i.unique(),
    }
    compare(d, calls, _numbers(6, 4), torch.tensor([4, 0, 2, 2, 5]))


@area.case("In-place operators change the tensor, `out=` the tensor that it names.")
def in_place_and_out(d: Device) -> None:
    def views(a: torch.Tensor) -> torch.Tensor:
        a[:, ::2].mul_(3)
        a.t()[1].add_(1)
        a.view(-1)[2:5].neg_()
        torch.add(a[:, 0], 1, out=a[:, 1])
        return a

    def resized(a: torch.Tensor) -> list[torch.Tensor]:
        out = torch.empty(0, device=a.device)
        result = torch.mul(a, 2, out=out)
        check(result is out, "out= returns another tensor")
        values = torch.empty(0, device=a.device)
        indices = torch.empty(0, dtype=torch.int64, device=a.device)
        torch.max(a, 1, out=(values, indices))
        return [out, values, indices]

    def same_object(a: torch.Tensor) -> torch.Tensor:
        check(a.add_(1) is a, "an in-place operator returns another tensor")
        return a.t().resize_(2, 2)

    calls: Calls = {"views": views, "out": resized, "in place": same_object}
    compare(d, calls, _numbers(3, 4))


@area.case(
    "Results have the strides of the CPU, which compiled programs rely on.",
    implement="the strides that the meta function sets: at::TensorIteratorBase, "
    "ATen/TensorIterator.h",
    page="operators/structured",
)
def strides(d: Device) -> None:
    x = _numbers(2, 3, 4, 5)
    layouts = {
        "contiguous": x,
        "transposed": x.transpose(1, 3),
        "channels last": x.contiguous(memory_format=torch.channels_last),
        "with gaps": x[:, :, ::2],
        "expanded": x[:1].expand(2, 3, 4, 5),
    }
    calls: Calls = {
        "add": lambda a: a + 1,
        "mul": lambda a: a * a,
        "relu": F.relu,
        "comparison": lambda a: a > 0,
        "where": lambda a: torch.where(a > 0, a, -a),
        "clone": torch.clone,
        "zeros_like": torch.zeros_like,
        "to": lambda a: a.to(torch.float64),
        "contiguous": lambda a: a.contiguous(),
        "sum": lambda a: a.sum(1),
    }
    for layout, host in layouts.items():
        there = d.on(x).as_strided(host.size(), host.stride())
        if layout == "channels last":
            there = d.on(host)
        for name, call in calls.items():
            found, expected = call(there).stride(), call(host).stride()
            check(
                found == expected,
                f"{name} of a tensor that is {layout}: strides {found} "
                f"instead of {expected}",
            )


@area.case(
    "Results are on the device of the operands, also if another one is current.",
    "two devices",
    implement="c10::DeviceGuard in the kernel, c10/core/DeviceGuard.h",
    page="runtime/guard",
)
def other_device(d: Device) -> None:
    host = _numbers(3, 4)
    x = host.to(d(1))
    calls: Calls = {
        "add": lambda a: a + 1,
        "mm": lambda a: a @ a.t(),
        "sum": lambda a: a.sum(1),
        "comparison": lambda a: a > 0,
        "index": lambda a: a[:, 1:].clone(),
        "cat": lambda a: torch.cat([a, a]),
        "in place": lambda a: a.clone().mul_(2),
        "zeros_like": torch.zeros_like,
    }
    for name, call in calls.items():
        result = call(x)
        check(result.device == d(1), f"{name}: the result is on {result.device}")
        same(result, call(host), name)
    check(torch.accelerator.current_device_index() == 0, "the current device changed")


@area.case("Tensors are made on the device.")
def factories(d: Device) -> None:
    x = _numbers(2, 3)
    compare(
        d,
        {
            "ones": lambda a: torch.ones(2, 3, device=a.device),
            "zeros": lambda a: torch.zeros(3, dtype=torch.int16, device=a.device),
            "full": lambda a: torch.full((2,), 2.5, device=a.device),
            "arange": lambda a: torch.arange(3, 30, 4, device=a.device),
            "linspace": lambda a: torch.linspace(0, 1, 7, device=a.device),
            "eye": lambda a: torch.eye(3, device=a.device),
            "like": lambda a: (torch.zeros_like(a), a.new_full((2,), 4)),
            "tensor": lambda a: torch.tensor([[1, 2]], device=a.device),
            "no elements": lambda a: (a[:0].sum(), a[:, :0].mean(1), a[:0] @ a.t()),
        },
        x,
    )
    with d(0):
        check(torch.ones(2).device.type == d.type, "`with device:` has no effect")


@area.case("Random numbers are in range, and drawn anew.")
def random(d: Device) -> None:
    x = torch.rand(1000, device=d.type)
    check(bool(((x >= 0) & (x < 1)).all()), "rand leaves [0, 1)")
    check(not torch.equal(x, torch.rand(1000, device=d.type)), "the same numbers twice")
    y = torch.randint(3, 9, (1000,), device=d.type)
    check(y.min().item() == 3 and y.max().item() == 8, "randint leaves its range")
    same(torch.randperm(50, device=d.type).sort().values, torch.arange(50), "randperm")


@area.case("Wrong arguments raise the type of error that the CPU raises.")
def refusals(d: Device) -> None:
    calls = {
        "mm": (RuntimeError, lambda x: x @ x),
        "add": (RuntimeError, lambda x: x + x[:, :2]),
        "view": (RuntimeError, lambda x: x.view(5)),
        "cat": (RuntimeError, lambda x: torch.cat([x, x[0]])),
        "dim": (IndexError, lambda x: x.sum(4)),
        "bitwise_not": (RuntimeError, lambda x: torch.bitwise_not(x)),
        "item": (RuntimeError, lambda x: x.item()),
        "cholesky": (RuntimeError, lambda x: torch.linalg.cholesky(-x @ x.t())),
    }
    for name, (kind, call) in calls.items():
        x = torch.arange(6.0).view(2, 3)
        for tensor in (x, x.to(d.type)):
            with refused(kind):
                call(tensor)
                d.synchronize()
                raise AssertionError(f"{name}: no error on {tensor.device}")
    same(d.put(1.0) + 1, torch.tensor([2.0]), "unusable behind the errors")


@area.case(
    "An error that a kernel finds is raised, at the latest by the next wait.",
    implement="a check of the driver's error in each launch and in "
    "DeviceGuardImplInterface::synchronizeDevice, "
    "c10/core/impl/DeviceGuardImplInterface.h",
    page="runtime/device",
)
def kernel_errors(d: Device) -> None:
    x, index = d.put(0.0, 1.0, 2.0, 3.0), d.put(7)
    d.lost = True  # a device may do no work behind such an error
    with refused(RuntimeError, IndexError):
        x[index]
        d.synchronize()

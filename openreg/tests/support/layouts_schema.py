# Makes arguments for an operator from its schema; see docs/operators/layouts.md.
"""Arguments that fit the types; whether the operator takes them, the CPU decides."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import torch

# For operators with arguments that depend on each other: x is a sparse tensor.
BY_HAND = {
    "aten::_sparse_log_softmax_backward_data": lambda x: ((x, x, 1, x), {}),
    "aten::_sparse_softmax_backward_data": lambda x: ((x, x, 1, x), {}),
    "aten::_to_sparse": lambda x: ((x,), {"layout": torch.sparse_csr}),
    "aten::addmm": lambda x: ((x.to_dense(), x, x.to_dense()), {"alpha": 2}),
    "aten::addmm.out": lambda x: (
        (x.to_dense(), x, x.to_dense()),
        {"beta": 2, "out": x.to_dense()},
    ),
    "aten::addmm_": lambda x: ((x.to_dense(), x, x.to_dense()), {}),
    "aten::addmv.out": lambda x: (
        (x.to_dense()[0], x, x.to_dense()[0]),
        {"out": x.to_dense()[0]},
    ),
    "aten::div.out_mode": lambda x: (
        (x, torch.tensor(2.5)),
        {"rounding_mode": "floor", "out": x.clone()},
    ),
    "aten::div_.Tensor_mode": lambda x: (
        (x.clone(), torch.tensor(2.5)),
        {"rounding_mode": "trunc"},
    ),
    "aten::floor_divide.out": lambda x: (
        (x, torch.tensor(2.5)),
        {"out": x.clone()},
    ),
    "aten::norm.ScalarOpt_dim": lambda x: ((x, 2, []), {}),
    "aten::sparse_sampled_addmm": lambda x: ((x, x.to_dense(), x.to_dense()), {}),
    "aten::sparse_sampled_addmm.out": lambda x: (
        (x, x.to_dense(), x.to_dense()),
        {"out": x.clone()},
    ),
}


def find(name: str) -> torch._ops.OpOverload:
    """Return the operator of a name such as ``aten::add.out``."""
    namespace, rest = name.split("::")
    operator, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), operator)
    return getattr(packet, overload or "default")


def arguments(
    name: str, tensor: torch.Tensor, other: torch.Tensor, limit: int
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield some calls of an operator, the same ones in every run.

    Args:
        tensor: the first tensor argument, where it is the operand.
        other: for the other ones, among dense tensors.
        limit: how many; thrice as many if there are many arguments.
    """
    if name in BY_HAND and tensor.dim() > 1 and len(tensor) > 0:
        yield BY_HAND[name](tensor.detach())
    schema = find(name)._schema
    choices = [
        _choices(argument, number, tensor, other)
        for number, argument in enumerate(schema.arguments)
    ]
    generator = random.Random(f"{name} {tensor.shape}")
    if len(choices) <= 3:
        calls = list(itertools.product(*choices))
        calls = generator.sample(calls, min(limit, len(calls)))
    else:
        calls = [tuple(map(generator.choice, choices)) for _ in range(3 * limit)]
    for call in calls:
        both = list(zip(schema.arguments, call, strict=True))
        yield (
            tuple(value for argument, value in both if not argument.kwarg_only),
            {argument.name: value for argument, value in both if argument.kwarg_only},
        )


def _choices(
    argument: torch.Argument, number: int, tensor: torch.Tensor, other: torch.Tensor
) -> list[Any]:
    kind = str(argument.type)
    if kind == "Tensor":
        if argument.is_out:
            return [torch.zeros(0, dtype=tensor.dtype), other, other.bool()]
        if number == 0 and argument.name in ("self", "input", "grad", "grad_output"):
            return [tensor]
        dense = [torch.tensor(2.5), torch.arange(1.0, 5.0), torch.tensor([0, 2])]
        return [tensor, other, other, other.to_dense(), *dense]
    by_name = {
        "dtype": [None, torch.float64],
        "layout": [tensor.layout],
        "device": [torch.device("cpu")],
        "pin_memory": [None],
        "memory_format": [None],
        "rounding_mode": ["floor", "trunc"],
        "reduce": ["sum", "amax"],
    }
    if argument.name in by_name:
        return by_name[argument.name]
    sizes = [[0], [1], [0, 1], [1, 0], [2, 2], list(tensor.shape)]
    by_type = {
        "int": [0, 1, 2, -1],
        "bool": [False, True],
        "float": [0.5, 2.0],
        "number": [2, 2.5],
        "List[int]": sizes,
        "List[Tensor]": [[tensor, other], [tensor, tensor]],
        "Optional[Tensor]": [None, other],
    }
    kind = kind.replace("SymInt", "int").replace("Scalar", "number")
    if kind in by_type:
        return by_type[kind]
    inner = kind.removeprefix("Optional[").removesuffix("]")
    return [None, *by_type.get(inner, by_type.get(inner + "]", []))]

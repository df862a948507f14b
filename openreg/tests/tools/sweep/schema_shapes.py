# How a hint of the sweep describes an argument; see docs/ship/sweep.md.
"""A hint is a tensor's description, a list of choices, or a function of the draw."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import torch

T = TypeVar("T")

BOOL, I8, U8, I32, I64, F32, F64, C64 = (
    torch.bool,
    torch.int8,
    torch.uint8,
    torch.int32,
    torch.int64,
    torch.float32,
    torch.float64,
    torch.complex64,
)


class Shape(NamedTuple):
    """A tensor: what is not said comes from the sample."""

    rank: int | None = None
    dtype: torch.dtype | None = None
    # Of these sizes; None is that of the sample.
    shape: tuple[int | None, ...] | Callable[[Any], tuple[int, ...]] | None = None
    high: int | None = None  # integers below this one
    low: int = 0
    definite: bool = False  # symmetric and positive definite
    layout: torch.layout = torch.strided
    on_host: bool = False  # the CPU has it, whatever the device of the others


class Always(NamedTuple):
    """An optional argument that is always given."""

    value: Any


def one(dtype: torch.dtype | None = None, *, high: int | None = None) -> Shape:
    return Shape(shape=(1,), dtype=dtype, high=high)


def integers(rank: int | None = None, dtype: torch.dtype = I64) -> Shape:
    return Shape(rank, dtype)


def rank(dimensions: int, dtype: torch.dtype | None = None) -> Shape:
    return Shape(dimensions, dtype)


def each(value: Callable[[Any], int]) -> Callable[[Any], list[int]]:
    """A number for each spatial dimension."""
    return lambda draw: [value(draw)] * draw.spatial


def dim(draw: Any) -> int:
    low, high = -max(draw.rank, 1), max(draw.rank, 1) - 1
    if draw.is_odd():
        low, high = low - 2, high + 2
    return draw.random.randint(low, high)


def dims(draw: Any) -> list[int]:
    some = draw.random.sample(range(draw.rank), draw.random.randint(0, draw.rank))
    return [dim(draw)] if draw.is_odd() else some


def permutation(draw: Any) -> list[int]:
    return draw.random.sample(range(draw.rank), draw.rank)


def sizes(draw: Any) -> list[int]:
    return list(draw.sizes[: draw.rank])


def steps(draw: Any) -> list[int]:
    return list(torch.empty(sizes(draw), device="meta").stride())


def kernels(draw: Any) -> tuple[int, ...]:
    """The sizes of the weight of a convolution."""
    return (*draw.sizes[:2], *[draw.kernel] * draw.spatial)


def rows(draw: Any) -> tuple[int, ...]:
    return tuple(draw.sizes[: draw.rank - 1])


def channels(draw: Any) -> tuple[int, ...]:
    return tuple(draw.sizes[1:2])


def size(draw: Any) -> int:
    return draw.size


def in_turn(*ranks: int) -> Callable[[Any], int]:
    return lambda draw: ranks[draw.turn % len(ranks)]


below = Shape(shape=rows)
diagonal = Shape(shape=lambda draw: (*draw.sizes[2 : draw.rank], draw.sizes[0]))
REDUCE = ["sum", "prod", "mean", "amax", "amin"]


def same(names: str, hint: T) -> dict[str, T]:
    """The hint for each of these names, which spaces separate."""
    return dict.fromkeys(names.split(), hint)

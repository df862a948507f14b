# Operations that move elements; see docs/modules/triton-compiler.md.
"""Views are other indices of the same recipe; nothing is computed."""

import re
from typing import TypeVar

from ..ttir import Operation
from .elementwise import uniform_base, uniform_tensor
from .registry import Lowering, lowers
from .types import count_of, element_of, shape_of
from .values import Affine, Indices, Tensor, Value, reads_elsewhere

T = TypeVar("T")


def result_of(op: Operation) -> tuple[tuple[int, ...], str]:
    """Return the shape and the element of the result."""
    type_ = op.type_list[-1]
    return shape_of(type_), element_of(type_)


@lowers("tt.make_range")
def make_range(low: Lowering, op: Operation) -> Value:
    """start, start + 1, ..."""
    shape, element = result_of(op)
    start = op.attribute("start")
    if shape == (1,):
        return uniform_tensor(shape, element, start)
    affine = Affine(start, ("1",))

    def at(i: Indices) -> str:
        return i[0] if start == "0" else low.emit(element, f"{i[0]} + {start}")

    return Tensor(shape, element, at, {}, 0, None, affine)


@lowers("tt.splat")
def splat(low: Lowering, op: Operation) -> Value:
    """One number for all elements."""
    shape, element = result_of(op)
    return uniform_tensor(shape, element, low.scalar(op.operands[0]))


@lowers("tt.unsplat")
def unsplat(low: Lowering, op: Operation) -> Value:
    """The number that a block of one element has."""
    source = low.tensor(op.operands[0])
    return low.at(source, ("0",) * len(source.shape))


@lowers("tt.expand_dims", "tt.broadcast", "tt.trans")
def view(low: Lowering, op: Operation) -> Value:
    """Drop, fix or exchange indices."""
    source = low.tensor(op.operands[0])
    shape, element = result_of(op)
    # For each index of the source, the index of the result that it is; None: it is 0.
    if op.name == "tt.expand_dims":
        axis = int(op.attribute("axis"))
        dims: list[int | None] = [d for d in range(len(shape)) if d != axis]
    elif op.name == "tt.broadcast":
        dims = [None if n == 1 else d for d, n in enumerate(source.shape)]
    else:
        found = re.search(r"i32: ([\d, ]+)>", op.text)
        assert found is not None
        order = [int(n) for n in found[1].split(",")]
        dims = [order.index(k) for k in range(len(order))]

    # LITERALINCLUDE START: TRITON_VIEW
    def at(i: Indices) -> str:
        return low.at(source, tuple("0" if d is None else i[d] for d in dims))

    # LITERALINCLUDE END: TRITON_VIEW

    affine, limits = source.affine, source.limits
    if affine is not None:
        affine = Affine(affine.base, tuple(move(affine.steps, dims, len(shape), "0")))
    if limits is not None:
        if any(x is not None and d is None for x, d in zip(limits, dims, strict=True)):
            limits = None
        else:
            limits = tuple(move(limits, dims, len(shape), None))
    reads = reads_elsewhere(source)
    return Tensor(shape, element, at, reads, source.cost, None, affine, limits)


def move(values: tuple[T, ...], dims: list[int | None], rank: int, rest: T) -> list[T]:
    """Return what each dimension of the result has."""
    moved = [rest] * rank
    for value, d in zip(values, dims, strict=True):
        if d is not None:
            moved[d] = value
    return moved


@lowers("tt.reshape")
def reshape(low: Lowering, op: Operation) -> Value:
    """The same elements, in the same order."""
    source = low.tensor(op.operands[0])
    shape, element = result_of(op)
    if (base := uniform_base(source)) is not None:
        return uniform_tensor(shape, element, base)
    if source.buffer is not None:
        return low.view(source.buffer, shape, element)
    if [n for n in source.shape if n > 1] != [n for n in shape if n > 1]:
        return low.view(str(low.buffered(source).buffer), shape, element)

    def at(i: Indices) -> str:  # only dimensions of one element come and go
        big = [x for x, n in zip(i, shape, strict=True) if n > 1]
        return low.at(source, tuple(big.pop(0) if n > 1 else "0" for n in source.shape))

    return Tensor(shape, element, at, reads_elsewhere(source), source.cost)


@lowers("tt.join")
def join(low: Lowering, op: Operation) -> Value:
    """Two blocks side by side in a new last dimension."""
    a, b = (low.tensor(x) for x in op.operands)
    shape, element = result_of(op)

    def at(i: Indices) -> str:
        if i[-1] in ("0", "1"):
            return low.at(a if i[-1] == "0" else b, i[:-1])
        first, second = low.at(a, i[:-1]), low.at(b, i[:-1])
        return low.emit(element, f"{i[-1]} == 0 ? {first} : {second}")

    return Tensor(shape, element, at, reads_elsewhere(a, b), 1 + a.cost + b.cost)


@lowers("tt.split")
def split(low: Lowering, op: Operation) -> list[Value]:
    """The two blocks that a last dimension of two has."""
    source = low.tensor(op.operands[0])

    def half(k: str) -> Tensor:
        def at(i: Indices) -> str:
            return low.at(source, (*i, k))

        shape, reads = source.shape[:-1], reads_elsewhere(source)
        return Tensor(shape, source.element, at, reads, source.cost)

    return [half("0"), half("1")]


@lowers("tt.cat")
def cat(low: Lowering, op: Operation) -> Value:
    """Two blocks behind each other."""
    shape, element = result_of(op)
    target, start = low.allocate(shape, element), 0
    for x in op.operands:
        source = low.tensor(x)
        with low.loops(source.shape) as i:
            value = low.at(source, i)
            low.do(
                f"{target.buffer}[{start} + {low.linear(source.shape, i)}] = {value};"
            )
        start += count_of(source.shape)
    return target


@lowers("tt.gather")
def gather(low: Lowering, op: Operation) -> Value:
    """Elements whose index along an axis is given."""
    source, index = (low.tensor(x) for x in op.operands)
    shape, element = result_of(op)
    axis, source = int(op.attribute("axis")), low.buffered(source)

    def at(i: Indices) -> str:
        # Sizes are powers of two: an index outside does not leave the buffer.
        k = low.emit("i32", f"{low.at(index, i)} & {source.shape[axis] - 1}")
        return low.at(source, (*i[:axis], k, *i[axis + 1 :]))

    return Tensor(shape, element, at, reads_elsewhere(source, index), 2 + index.cost)

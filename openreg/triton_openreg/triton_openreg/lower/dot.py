# Products of matrices; see docs/modules/triton-compiler.md.
"""``tl.dot``, of two or three dimensions."""

from ..ttir import Operation
from .registry import Lowering, lowers
from .values import Indices, Tensor, Value

ACCUMULATED_IN = {"f16": "f32", "bf16": "f32", "f8E5M2": "f32", "f8E4M3FN": "f32"}


@lowers("tt.dot")
def dot(low: Lowering, op: Operation) -> Value:
    """a @ b + c, in the type of c; of 16 bits, in float32."""
    names = op.operands[:3]
    a, b, c = (low.tensor(x) for x in names)
    element = ACCUMULATED_IN.get(c.element, c.element)
    a, b = widened(low, a, element), widened(low, b, element)
    if c.element == element and c.buffer is not None and low.ends(names[2], c.buffer):
        target = low.view(c.buffer, c.shape, element)
    else:
        target = low.allocate(c.shape, element)
        low.copy(converted(low, c, element), target)
    (m, k), n = a.shape[-2:], b.shape[-1]
    low.includes.add("dot.h")
    with low.loops(c.shape[:-2], parallel=False) as i:
        start = low.linear(c.shape[:-2], i)
        starts = (f"{start} * {size}" if i else "0" for size in (m * k, k * n, m * n))
        places = [
            f"{x.buffer} + ({s})" for x, s in zip((a, b, target), starts, strict=True)
        ]
        low.do(f"dot<{m}, {n}, {k}>({', '.join(places)});")
    return converted(low, target, c.element)


def converted(low: Lowering, source: Tensor, element: str) -> Tensor:
    """Return a block in another type; integers are extended with their sign."""
    if source.element == element:
        return source
    name = "convert" if element[0] != "i" else "sign_extend"

    def at(i: Indices) -> str:
        return low.emit(element, f"{name}<{low.cpp(element)}>({low.at(source, i)})")

    return Tensor(source.shape, element, at, source.reads, source.cost + 1)


def widened(low: Lowering, source: Tensor, element: str) -> Tensor:
    """Return an operand in a buffer, in the type of the result."""
    return low.buffered(converted(low, source, element))


@lowers("tt.dot_scaled")
def dot_scaled(low: Lowering, op: Operation) -> Value:
    """Formats with a scale for each block of elements: not supported."""
    raise op.unsupported(
        "scaled formats", "multiply the operands by their scales, then use tl.dot"
    )

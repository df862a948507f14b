# Finds blocks of addresses and masks that are simple; see
# docs/modules/triton-compiler.md.
"""What stays ``base + i * step`` under an operation, and which masks are prefixes.

An offset that overflows 32 bits inside one block is taken to go on in 64 bits: Triton's
own analysis of contiguous addresses assumes the same.
"""

from ..ttir import Operation
from .registry import Lowering
from .types import element_of, is_pointer
from .values import Affine, Indices, Limits, Tensor, Value

NO_STEP = "0"


def affine_of(value: Value, rank: int) -> Affine | None:
    """Return the form of a value; a scalar has no steps."""
    if isinstance(value, str):
        return Affine(value, (NO_STEP,) * rank)
    return value.affine


def combine_affine(low: Lowering, op: Operation, args: list[Value]) -> Affine | None:
    """Return the form of a result, if it has one; the base is computed here."""
    rank = max((len(a.shape) for a in args if isinstance(a, Tensor)), default=0)
    forms = [affine_of(a, rank) for a in args]
    if any(form is None for form in forms):
        return None
    a, b = (*[f for f in forms if f is not None], None)[:2]
    assert a is not None
    element = element_of(op.type_list[0])
    if op.name == "arith.extsi" and element != "i1":
        base = low.emit("i64", f"static_cast<int64_t>({a.base})")
        return Affine(base, a.steps)
    if b is None or element == "i1":
        return None
    pairs = list(zip(a.steps, b.steps, strict=True))
    if op.name in ("arith.addi", "tt.addptr"):
        steps = [
            plus(low, "i64" if is_pointer(element) else element, *p) for p in pairs
        ]
        return Affine(plus(low, element, a.base, b.base), tuple(steps))
    if op.name == "arith.subi" and b.uniform:
        return Affine(low.emit(element, f"{a.base} - {b.base}"), a.steps)
    if op.name == "arith.muli":
        if a.uniform:
            a, b = b, a
        if b.uniform:
            scaled = [times(low, element, x, b.base) for x in a.steps]
            return Affine(times(low, element, a.base, b.base), tuple(scaled))
    return None


def plus(low: Lowering, element: str, x: str, y: str) -> str:
    """Return the sum of two bases or steps."""
    if NO_STEP in (x, y):
        return y if x == NO_STEP else x
    return low.emit(element, f"{x} + {y}")


def times(low: Lowering, element: str, x: str, y: str) -> str:
    """Return a scaled step or base."""
    if x == NO_STEP or y == NO_STEP:
        return NO_STEP
    if x == "1" or y == "1":
        return y if x == "1" else x
    return low.emit(element, f"{x} * {y}")


def limits_of(
    low: Lowering, op: Operation, args: list[Value], shape: tuple[int, ...]
) -> Limits | None:
    """Return the limits of a mask such as ``offsets < n``, if it is one."""
    if op.name == "arith.andi":
        if all(isinstance(x, Tensor) and x.limits is None for x in args):
            return None
        a, b = (known_limits(low, x) for x in args)
        if a is None or b is None:
            return None
        return tuple(smaller(low, x, y) for x, y in zip(a, b, strict=True))
    if op.name != "arith.cmpi":
        return None
    kind = op.text.split(",")[0].strip()
    left, right = (affine_of(a, len(shape)) for a in args)
    if kind in ("sgt", "sge"):
        left, right = right, left
        kind = {"sgt": "slt", "sge": "sle"}[kind]
    if kind not in ("slt", "sle") or left is None or right is None:
        return None
    moving = [d for d, step in enumerate(left.steps) if step != NO_STEP]
    if len(moving) != 1 or left.steps[moving[0]] != "1" or not right.uniform:
        return None
    more = " + 1" if kind == "sle" else ""
    limit = low.emit("i64", f"int64_t{{{right.base}}} - {left.base}{more}")
    return tuple(limit if d == moving[0] else None for d in range(len(shape)))


def known_limits(low: Lowering, mask: Value) -> Limits | None:
    """Return the limits of a mask; one that is equal everywhere also has them."""
    if isinstance(mask, str) or mask.limits is not None:
        return None if isinstance(mask, str) else mask.limits
    if mask.affine is None or not mask.affine.uniform:
        return None
    nothing: Limits = (None,) * (len(mask.shape) - 1)
    if mask.affine.base == "true":
        return (*nothing, None)
    last = low.emit("i64", f"{mask.affine.base} ? {mask.shape[-1]} : 0")
    return (*nothing, last)


def smaller(low: Lowering, a: str | None, b: str | None) -> str | None:
    """Return the smaller of two limits."""
    if a is None or b is None:
        return b if a is None else a
    return low.emit("i64", f"smaller({a}, {b})")


def scaled(step: str, wide: str) -> str:
    """Return a step in the type that an address needs."""
    return step if step.isdigit() else f"{wide}{{{step}}}"


def affine_tensor(
    low: Lowering, shape: tuple[int, ...], element: str, affine: Affine
) -> Tensor:
    """Return the block that a form describes."""
    if affine.uniform:
        return Tensor(shape, element, lambda _: affine.base, {}, 0, None, affine)

    def at(indices: Indices) -> str:
        wide = "int64_t" if is_pointer(element) or element == "i64" else "int32_t"
        terms = [
            i if step == "1" else f"{scaled(step, wide)} * {i}"
            for i, step in zip(indices, affine.steps, strict=True)
            if step != NO_STEP and i != "0"
        ]
        return low.emit(element, " + ".join((affine.base, *terms)))

    return Tensor(shape, element, at, {}, 1, None, affine)

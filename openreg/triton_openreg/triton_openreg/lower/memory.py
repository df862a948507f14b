# Loads, stores and atomics; see docs/modules/triton-compiler.md.
"""Memory operations run in program order; loaded values go through a buffer."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..ttir import Operation
from .affine import known_limits
from .elementwise import uniform_base, uniform_tensor
from .registry import Lowering, lowers
from .types import cpp_type, element_of, is_tensor, pointee_of, shape_of
from .values import Indices, Limits, Tensor, Value

KINDS = {
    **{"fadd": "add", "add": "add", "exch": "exchange"},
    **{"and": "bit_and", "or": "bit_or", "xor": "bit_xor"},
    **{"max": "max", "min": "min", "umax": "unsigned_max", "umin": "unsigned_min"},
}


def zero_of(element: str) -> str:
    """Return what a masked element is without another value."""
    return "nullptr" if "*" in str(cpp_type(element)) else f"{cpp_type(element)}{{}}"


def end_of(low: Lowering, limits: Limits, indices: Indices, size: int) -> str:
    """Return where the innermost loop ends, given the indices of the outer ones."""
    last = limits[-1] if limits[-1] is not None else str(size)
    outer = [f"{i} < {x}" for i, x in zip(indices, limits[:-1], strict=True) if x]
    end = f"{' && '.join(outer)} ? {last} : 0" if outer else last
    name = low.new("end")
    low.do(f"const int {name} = clamp_end({end}, {size});")
    return name


@contextmanager
def prefix_loops(
    low: Lowering, shape: tuple[int, ...], limits: Limits
) -> Iterator[tuple[Indices, str]]:
    """Outer loops, and the end of the innermost one."""
    with low.loops(shape[:-1], parallel=False) as outer:
        yield outer, end_of(low, limits, outer, shape[-1])


@lowers("tt.load")
def load(low: Lowering, op: Operation) -> Value:
    """Read memory where the mask is true, and take the other value elsewhere."""
    pointer, *rest = (low.value(x) for x in op.operands)
    type_ = op.type_list[0]
    shape, element = shape_of(type_), pointee_of(type_)
    other: Value = rest[1] if len(rest) > 1 else zero_of(element)
    mask = rest[0] if rest else None
    if isinstance(pointer, str):
        return load_scalar(low, element, pointer, mask, other)
    base = uniform_base(pointer)
    if base is not None and mask is None:
        return uniform_tensor(shape, element, low.emit(element, f"*{base}"))
    target = low.allocate(shape, element)
    limits = known_limits(low, mask) if mask is not None else None
    if limits is None or all(limit is None for limit in limits):
        with low.loops(shape) as i:
            address = low.at(pointer, i)
            value = f"*{address}"
            if mask is not None and limits is None:
                value = f"{low.at(mask, i)} ? {value} : {low.at(other, i)}"
            low.put(value, target, i)
        return target
    with prefix_loops(low, shape, limits) as (outer, end):  # two loops without a test
        inner = shape[-1:]
        with low.loops(inner, last=f"0; {{i}} < {end}") as i:
            low.put(f"*{low.at(pointer, (*outer, *i))}", target, (*outer, *i))
        with low.loops(inner, last=f"{end}; {{i}} < {shape[-1]}") as i:
            low.put(low.at(other, (*outer, *i)), target, (*outer, *i))
    return target


def load_scalar(
    low: Lowering, element: str, pointer: str, mask: Value | None, other: Value
) -> str:
    """Read one number."""
    if mask is None:
        return low.emit(element, f"*{pointer}")
    return low.emit(element, f"{low.at(mask, ())} ? *{pointer} : {low.at(other, ())}")


@lowers("tt.store")
def store(low: Lowering, op: Operation) -> None:
    """Write memory where the mask is true."""
    pointer, value, *rest = (low.value(x) for x in op.operands)
    shape = shape_of(op.type_list[0])
    mask = rest[0] if rest else None
    limits = known_limits(low, mask) if mask is not None else None
    if limits is not None and any(limit is not None for limit in limits):
        with (
            prefix_loops(low, shape, limits) as (outer, end),
            low.loops(shape[-1:], last=f"0; {{i}} < {end}") as inner,
        ):
            i = (*outer, *inner)
            element = low.at(value, i)
            low.do(f"*{low.at(pointer, i)} = {element};")
        return
    with low.loops(shape) as i:
        test = "" if mask is None or limits is not None else f"if ({low.at(mask, i)}) "
        element = low.at(value, i)
        low.do(f"{test}*{low.at(pointer, i)} = {element};")


@lowers("tt.atomic_rmw", "tt.atomic_cas")
def atomic(low: Lowering, op: Operation) -> Value:
    """Change memory, and return what it was; one element after the other."""
    pointer, *args = (low.value(x) for x in op.operands)
    type_ = op.type_list[-1]
    if op.name == "tt.atomic_rmw":
        type_ = op.type_list[1]
        kind = op.text.split(",")[0].strip()
        if kind not in KINDS:
            raise op.unsupported(f"the operation {kind}", "use tl.atomic_cas")
        value, *mask = args
        call = f"atomic_{KINDS[kind]}({{0}}, {{1}})"
    else:
        value, mask, call = args[0], [], "atomic_cas({0}, {1}, {2})"
    shape, element = shape_of(type_), element_of(type_)

    def change(i: Indices) -> str:
        operands = [low.at(x, i) for x in (pointer, value, *([] if mask else args[1:]))]
        changed = call.format(*operands)
        if mask:
            changed = f"{low.at(mask[0], i)} ? {changed} : {zero_of(element)}"
        return changed

    if not is_tensor(type_):
        return low.emit(element, change(()))
    target: Tensor = low.allocate(shape, element)
    with low.loops(shape, parallel=False) as i:
        low.put(change(i), target, i)
    return target

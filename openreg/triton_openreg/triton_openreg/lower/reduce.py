# Reductions, scans and histograms; see docs/modules/triton-compiler.md.
"""Operations that combine the elements along an axis."""

import re

from ..ttir import Block, Operation
from .registry import Lowering, lowers
from .types import element_of, shape_of
from .values import Indices, Tensor, Value

LANES = 16  # as many partial results, so that the compiler uses vectors
UNROLLED = 4


def sources_of(low: Lowering, op: Operation) -> list[Tensor]:
    """Return the blocks that are combined; all have one shape."""
    found = re.search(r"\((.*?)\)", op.text)
    assert found is not None
    return [low.tensor(x.strip()) for x in found[1].split(",")]


def along(i: Indices, axis: int, k: str) -> Indices:
    """Return the indices of an element, with that along the axis put in."""
    return (*i[:axis], k, *i[axis:])


# LITERALINCLUDE START: TRITON_REDUCE
@lowers("tt.reduce")
def reduce(low: Lowering, op: Operation) -> list[Value]:
    """Combine what is along an axis; the function may be applied in any order."""
    sources, axis = sources_of(low, op), int(op.attribute("axis"))
    shape, block = sources[0].shape, op.regions[0][0]
    outer, length = shape[:axis] + shape[axis + 1 :], shape[axis]
    last = all(n == 1 for n in shape[axis + 1 :])
    if not last:
        return list(reduce_rows(low, block, sources, axis))
    targets = [low.allocate(outer, s.element) for s in sources] if outer else []
    with low.loops(outer, parallel=False) as i:
        if length <= UNROLLED:
            total = [low.at(s, along(i, axis, "0")) for s in sources]
            for k in range(1, length):
                more = [low.at(s, along(i, axis, str(k))) for s in sources]
                total = low.inline(block, [*total, *more])
        else:
            total = reduce_lanes(low, block, sources, i, axis)
        for value, target in zip(total, targets, strict=bool(outer)):
            low.put(value, target, i)
    return list(targets) if outer else list(total)


# LITERALINCLUDE END: TRITON_REDUCE


def reduce_lanes(
    low: Lowering, block: Block, sources: list[Tensor], i: Indices, axis: int
) -> list[str]:
    """Reduce the last axis: ``LANES`` partial results, then those."""
    length = sources[0].shape[axis]
    lanes = min(LANES, length)
    names = [low.new("lanes") for _ in sources]
    for name, source in zip(names, sources, strict=True):
        low.do(f"alignas(64) {low.cpp(source.element)} {name}[{lanes}];")

    def combine(j: str, others: list[str]) -> None:
        here = [
            low.emit(s.element, f"{n}[{j}]")
            for n, s in zip(names, sources, strict=True)
        ]
        for name, value in zip(names, low.inline(block, [*here, *others]), strict=True):
            low.do(f"{name}[{j}] = {value};")

    with low.loops((lanes,)) as (j,):
        for name, source in zip(names, sources, strict=True):
            low.do(f"{name}[{j}] = {low.at(source, along(i, axis, j))};")
    if length > lanes:
        k = low.new("k")
        steps = f"for (int {k} = {lanes}; {k} < {length}; {k} += {lanes})"
        with low.braces(steps), low.loops((lanes,)) as (j,):
            at = low.new("i")
            low.do(f"const int {at} = {k} + {j};")
            combine(j, [low.at(s, along(i, axis, at)) for s in sources])
    width = low.new("width")
    halves = f"for (int {width} = {lanes // 2}; {width} > 0; {width} /= 2)"
    inner = low.loops((lanes,), last=f"0; {{i}} < {width}")
    with low.braces(halves), inner as (j,):
        upper = f"{j} + {width}"
        combine(j, [low.emit(s.element, f"{n}[{upper}]")
                    for n, s in zip(names, sources, strict=True)])  # fmt: skip
    return [low.emit(s.element, f"{n}[0]") for n, s in zip(names, sources, strict=True)]


def reduce_rows(
    low: Lowering, block: Block, sources: list[Tensor], axis: int
) -> list[Tensor]:
    """Reduce another axis: combine whole rows, whose elements are side by side."""
    shape = sources[0].shape
    before, after = shape[:axis], shape[axis + 1 :]
    targets = [low.allocate(before + after, s.element) for s in sources]
    with low.loops(before, parallel=False) as i:
        with low.loops(after) as j:
            for source, target in zip(sources, targets, strict=True):
                low.put(low.at(source, (*i, "0", *j)), target, (*i, *j))
        k = low.new("k")
        rows = f"for (int {k} = 1; {k} < {shape[axis]}; ++{k})"
        with low.braces(rows), low.loops(after) as j:
            here = [low.at(t, (*i, *j)) for t in targets]
            more = [low.at(s, (*i, k, *j)) for s in sources]
            combined = low.inline(block, [*here, *more])
            for value, target in zip(combined, targets, strict=True):
                low.put(value, target, (*i, *j))
    return targets


@lowers("tt.scan")
def scan(low: Lowering, op: Operation) -> list[Value]:
    """Combine each element with those before it along an axis, in their order."""
    sources, axis = sources_of(low, op), int(op.attribute("axis"))
    reverse = op.attribute("reverse") == "true"
    shape, block = sources[0].shape, op.regions[0][0]
    before, after, length = shape[:axis], shape[axis + 1 :], shape[axis]
    targets = [low.allocate(shape, s.element) for s in sources]
    first = str(length - 1) if reverse else "0"
    with low.loops(before, parallel=False) as i:
        with low.loops(after) as j:
            for source, target in zip(sources, targets, strict=True):
                where = (*i, first, *j)
                low.put(low.at(source, where), target, where)
        n, k, previous = low.new("n"), low.new("k"), low.new("k")
        with low.braces(f"for (int {n} = 1; {n} < {length}; ++{n})"):
            low.do(f"const int {k} = {f'{length - 1} - {n}' if reverse else n};")
            low.do(f"const int {previous} = {k} {'+' if reverse else '-'} 1;")
            with low.loops(after) as j:
                here = [low.at(t, (*i, previous, *j)) for t in targets]
                more = [low.at(s, (*i, k, *j)) for s in sources]
                combined = low.inline(block, [*here, *more])
                for value, target in zip(combined, targets, strict=True):
                    low.put(value, target, (*i, k, *j))
    return list(targets)


@lowers("tt.histogram")
def histogram(low: Lowering, op: Operation) -> Value:
    """Count how often each number is there; those outside are not counted."""
    source, *rest = (low.tensor(x) for x in op.operands)
    type_ = op.type_list[-1]
    target = low.allocate(shape_of(type_), element_of(type_))
    (bins,) = target.shape
    with low.loops(target.shape) as i:
        low.put("0", target, i)
    with low.loops(source.shape, parallel=False) as i:
        value = low.at(source, i)
        test = f"{value} >= 0 && {value} < {bins}"
        test = f"{low.at(rest[0], i)} && {test}" if rest else test
        low.do(f"if ({test}) ++{target.buffer}[{value}];")
    return target

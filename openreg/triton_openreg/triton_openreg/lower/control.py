# Loops, branches and calls; see docs/modules/triton-compiler.md.
"""Control flow of the program; what a loop carries is a variable or a buffer."""

import re
from collections.abc import Sequence

from ..ttir import TYPE, VALUE, Operation
from .affine import affine_tensor
from .registry import Lowering, lowers
from .types import count_of, element_of, is_tensor, shape_of
from .values import Affine, Tensor, Value

Target = str | Tensor  # a variable, or a buffer


def declare(low: Lowering, types: Sequence[str]) -> list[Target]:
    """Return a place for each value that outlives a region."""
    targets: list[Target] = []
    for type_ in types:
        if is_tensor(type_):
            buffer = low.allocate(shape_of(type_), element_of(type_))
            low.pinned.append(str(buffer.buffer))
            targets.append(buffer)
        else:
            targets.append(low.new("x"))
            low.do(f"{low.cpp(type_)} {targets[-1]};")
    return targets


def assign(low: Lowering, values: list[Value], targets: list[Target]) -> None:
    """Move values to their places, as if all moved at once."""
    pairs = [
        (v, t)
        for v, t in zip(values, targets, strict=True)
        if isinstance(v, Tensor) and isinstance(t, Tensor)
    ]
    taken = {str(t.buffer) for _, t in pairs}
    ready = []
    for value, target in pairs:
        reads = {b: in_place for b, in_place in value.reads.items() if b in taken}
        own = reads.pop(str(target.buffer), True)
        if reads or not own:  # it would read what another has written
            value = low.copied(value)
        ready.append((value, target))
    for value, target in ready:
        if value.buffer != target.buffer:
            low.copy(value, target)
    for scalar, variable in zip(values, targets, strict=True):
        if isinstance(scalar, str) and isinstance(variable, str):
            low.do(f"{variable} = {scalar};")


def received(low: Lowering, targets: list[Target], types: Sequence[str]) -> list[Value]:
    """Return the values that places have now."""
    return [
        low.emit(type_, target)
        if isinstance(target, str)
        else low.view(str(target.buffer), target.shape, target.element)
        for target, type_ in zip(targets, types, strict=True)
    ]


@lowers("scf.if")
def if_(low: Lowering, op: Operation) -> list[Value]:
    """Run one of two regions."""
    found = VALUE.search(op.text)
    assert found is not None
    condition = low.scalar(found[0])
    types, pinned = TYPE.findall(op.text.partition("->")[2]), len(low.pinned)
    targets = declare(low, types)
    for n, region in enumerate(op.regions):
        if not region:
            continue
        with low.braces("else" if n else f"if ({condition})"):
            assign(low, low.run(region[0]), targets)
    results = received(low, targets, types)
    del low.pinned[pinned:]
    return results


@lowers("scf.for")
def for_(low: Lowering, op: Operation) -> list[Value]:
    """A loop; addresses stay ``base + i * step`` if every iteration lets them.

    Whether it does is known only afterwards: the body is written again if not.
    """
    head = re.match(r" (unsigned )?(\S+) = (\S+) to (\S+) step (\S+)", op.text)
    assert head is not None
    unsigned, variable, *names = head.groups()
    carried = re.search(r"iter_args\((.*?)\) -> \((.*?)\)", op.text)
    pairs = re.findall(r"(%\S+) = (%[^\s,)]+)", carried[1]) if carried else []
    types = TYPE.findall(carried[2]) if carried else []
    counter = TYPE.findall(op.types or op.text.rpartition(":")[2])[-1:] or ["i32"]
    inits = [low.value(init) for _, init in pairs]
    moving = [
        n for n, v in enumerate(inits)
        if isinstance(v, Tensor) and v.affine and not v.element.startswith(("f", "b"))
        and v.element != "i1"
    ]  # fmt: skip
    state = low.save()
    while True:
        bounds = [low.scalar(name) for name in names]
        results, failed = try_for(
            low, op, (variable, counter[0], bool(unsigned)), bounds,
            [name for name, _ in pairs], types, inits, moving,
        )  # fmt: skip
        if not failed:
            return results
        moving = [n for n in moving if n not in failed]
        low.restore(state)
        state = low.save()


def try_for(
    low: Lowering,
    op: Operation,
    counter: tuple[str, str, bool],
    bounds: list[str],
    names: list[str],
    types: list[str],
    inits: list[Value],
    moving: list[int],
) -> tuple[list[Value], list[int]]:
    """Write a loop; return its results, and the values that were no addresses."""
    variable, type_, unsigned = counter
    pinned = len(low.pinned)
    forms: dict[int, Affine] = {}
    places, firsts = list(types), list(inits)
    for n in moving:
        init = inits[n]
        assert isinstance(init, Tensor) and init.affine is not None
        forms[n], places[n] = init.affine, init.element
        firsts[n] = init.affine.base
    targets = declare(low, places)
    assign(low, firsts, targets)

    def restored(values: list[Value]) -> list[Value]:
        for n, form in forms.items():
            init, base = inits[n], values[n]
            assert isinstance(init, Tensor) and isinstance(base, str)
            affine = Affine(base, form.steps)
            values[n] = affine_tensor(low, init.shape, init.element, affine)
        return values

    failed: list[int] = []
    k, wide = low.new("k"), "uint64_t" if unsigned else "int64_t"
    start, end, step = (f"to_unsigned({b})" if unsigned else b for b in bounds)
    # In 64 bits, the last step cannot overflow.
    head = f"for ({wide} {k} = {start}; {k} < {wide}({end}); {k} += {step})"
    with low.braces(head):
        low.env[variable] = low.emit(type_, f"static_cast<{low.cpp(type_)}>({k})")
        for name, value in zip(
            names, restored(received(low, targets, places)), strict=True
        ):
            low.env[name] = value
        values = low.run(op.regions[0][0], [variable, *names])
        for n, form in forms.items():
            value = values[n]
            affine = value.affine if isinstance(value, Tensor) else None
            if affine is None or affine.steps != form.steps:
                failed.append(n)
            else:
                values[n] = affine.base
        if not failed:
            assign(low, values, targets)
    results = restored(received(low, targets, places)) if not failed else []
    del low.pinned[pinned:]
    return results, failed


@lowers("scf.while")
def while_(low: Lowering, op: Operation) -> list[Value]:
    """A region that computes a condition, and one that runs while it holds."""
    body, _, signature = op.text.partition(" : (")
    pairs = re.findall(r"(%\S+) = (%[^\s,)]+)", body)
    inputs, _, outputs = signature.partition("->")
    in_types, out_types = TYPE.findall(inputs), TYPE.findall(outputs)
    pinned = len(low.pinned)
    before, after = declare(low, in_types), declare(low, out_types)
    assign(low, [low.value(init) for _, init in pairs], before)
    with low.braces("while (true)"):
        block = op.regions[0][0]
        names = [name for name, _ in pairs] or [name for name, _ in block.arguments]
        low.env.update(zip(names, received(low, before, in_types), strict=True))
        condition, *passed = low.run(block, names)
        assign(low, passed, after)
        low.do(f"if (!{condition}) break;")
        block = op.regions[1][0]
        names = [name for name, _ in block.arguments]
        low.env.update(zip(names, received(low, after, out_types), strict=True))
        assign(low, low.run(block, names), before)
    results = received(low, after, out_types)
    del low.pinned[pinned:]
    return results


@lowers("tt.call")
def call(low: Lowering, op: Operation) -> list[Value]:
    """Call a function that was not inlined; blocks are passed as buffers."""
    found = re.search(r'@([\w$.]+|".*?")', op.text)
    assert found is not None
    types = TYPE.findall(op.types.partition("->")[2])
    values = [low.value(x) for x in op.operands]
    inputs = [low.buffered(v) if isinstance(v, Tensor) else v for v in values]
    pinned = len(low.pinned)
    results = declare(low, types)
    places = [
        str(x.buffer) if isinstance(x, Tensor) else x for x in (*inputs, *results)
    ]
    function = low.functions[found[1].strip('"')]
    args = ", ".join(("program", *places))
    low.do(f"if (const int code = {function}({args})) return code;")
    del low.pinned[pinned:]
    return received(low, results, types)


@lowers("tt.map_elementwise")
def map_elementwise(low: Lowering, op: Operation) -> list[Value]:
    """Run a function with branches for each element, or for ``pack`` at once."""
    pack = int(op.attribute("pack"))
    sources = [low.buffered(low.tensor(x)) for x in op.operands]
    outputs = TYPE.findall(op.types.partition("->")[2])
    targets = [low.allocate(shape_of(t), element_of(t)) for t in outputs]
    places = [(n, p) for n in range(len(targets)) for p in range(pack)]
    count = count_of(sources[0].shape) // pack
    with low.loops((count,), parallel=False) as (k,):
        first = f"{k} * {pack}" if count > 1 else "0"

        def finish(values: list[Value]) -> None:
            for value, (n, p) in zip(values, places, strict=True):
                low.do(f"{targets[n].buffer}[{first} + {p}] = {value};")
            if count > 1:
                low.do("continue;")

        elements = [
            low.emit(s.element, f"{s.buffer}[{first} + {p}]")
            for s in sources
            for p in range(pack)
        ]
        low.flow(op.regions[0], 0, elements, finish)
    return list(targets)

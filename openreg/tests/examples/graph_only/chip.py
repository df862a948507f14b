# The toy chip compiler: whole graphs only; see docs/modules/graph-only.md.
"""It takes an FX graph of ATen operators, and has no function for a single kernel."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .binary import COUNTS, Binary, Counts, Instruction, Segment, encode
from .lower import is_known

NAMES = """
abs add addmm alias amax any arange argmax as_strided as_strided_scatter avg_pool2d
avg_pool2d_backward bitwise_and bitwise_not bitwise_or bmm cat clamp clone
constant_pad_nd convolution convolution_backward copy cos cumsum detach div embedding
embedding_dense_backward empty eq erf exp expand full full_like gather ge gelu
gelu_backward gt index index_put index_select le lift_fresh_copy log logical_and
logical_not lt max_pool2d_with_indices max_pool2d_with_indices_backward maximum mean
minimum mm mul ne neg permute pow reciprocal relu rsqrt scalar_tensor scatter select
sigmoid sin slice slice_scatter _softmax split split_with_sizes sqrt squeeze sub sum
sym_size t tanh threshold_backward _to_copy transpose _unsafe_view unsqueeze var
var_mean view where
"""
OPERATORS = frozenset(NAMES.split())


# LITERALINCLUDE START: GRAPH_ONLY_TARGET
@dataclass(frozen=True)
class Target:
    """What a host must know of the chip, which it need not have, to compile for it."""

    name: str
    operators: frozenset[str]
    dtypes: tuple[torch.dtype, ...]

    def has(self, node: Node) -> bool:
        """Whether the chip can run this node."""
        values = node.meta.get("val")
        for value in values if isinstance(values, list | tuple) else [values]:
            if isinstance(value, torch.Tensor) and value.dtype not in self.dtypes:
                return False
        name = target_name(node).split(".")[1]
        return bool({name, name.removesuffix("_copy")} & self.operators)


TOY = Target(
    "toy-1",
    OPERATORS,
    (torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.bool),
)
# LITERALINCLUDE END: GRAPH_ONLY_TARGET


class ChipError(RuntimeError):
    """The compiler cannot compile a graph; the message has the operator's name."""


@contextmanager
def counted() -> Iterator[Counts]:
    """Count compilations, launches and operators of the host in a context."""
    before = replace(COUNTS, host=Counter(COUNTS.host))
    counts = Counts()
    yield counts
    counts.compilations = COUNTS.compilations - before.compilations
    counts.launches = COUNTS.launches - before.launches
    counts.host = COUNTS.host - before.host


def target_name(node: Node) -> str:
    """Name an operator as a binary does: ``aten.add.Tensor`` or ``operator.mul``."""
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target)
    name = getattr(node.target, "__name__", str(node.target))
    if not is_known(node.target):
        raise ChipError(f"chip: {name} is no operator of ATen")
    return f"operator.{name}"


def compile_graph(
    module: GraphModule,
    writes: dict[str, str] | None = None,
    target: Target = TOY,
    missing: str = "host",
) -> Binary:
    """Compile a functional graph; with ``missing="error"`` nothing runs on the host."""
    COUNTS.compilations += 1
    inputs: list[str] = []
    outputs: Any = []
    segments: list[Segment] = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            inputs.append(node.name)
        elif node.op == "output":
            results = node.args[0]
            several = isinstance(results, list | tuple)
            outputs = encode(results if several else [results])
        else:
            place = _place(node, target, missing, segments)
            if not segments or segments[-1].place != place:
                segments.append(Segment(place, [], [], []))
            segments[-1].instructions.append(_instruction(node))
    kept = list(_names(outputs)) + list((writes or {}).values())
    _connect(segments, set(kept))
    return Binary(target.name, inputs, segments, outputs, writes or {})


# LITERALINCLUDE START: GRAPH_ONLY_REFUSE
def _place(node: Node, target: Target, missing: str, before: list[Segment]) -> str:
    if node.op != "call_function":
        raise ChipError(f"chip: {node.op} {node.target} must be an input of the graph")
    name = target_name(node)
    if name.startswith("operator."):  # sizes, and items of a tuple
        return before[-1].place if before else "chip"
    schema = getattr(node.target, "_schema", None)
    if schema and schema.is_mutable:
        raise ChipError(f"chip: {name} writes to its argument; functionalize the graph")
    if target.has(node):
        return "chip"
    if missing == "error":
        raise ChipError(
            f"chip: {target.name} has no {name} for {_dtypes(node)}; decompose it, "
            'or run it on the host with missing="host"'
        )
    return "host"


# LITERALINCLUDE END: GRAPH_ONLY_REFUSE


def _dtypes(node: Node) -> str:
    values = node.meta.get("val")
    several = values if isinstance(values, list | tuple) else [values]
    return ", ".join(str(x.dtype) for x in several if isinstance(x, torch.Tensor))


def _instruction(node: Node) -> Instruction:
    ignored = ("device", "layout", "pin_memory")
    kwargs = {name: encode(x) for name, x in node.kwargs.items() if name not in ignored}
    return Instruction(node.name, target_name(node), encode(node.args), kwargs)


def _names(value: Any) -> Iterator[str]:
    """The names of the values in an encoded argument."""
    if isinstance(value, dict) and "$value" in value:
        yield value["$value"]
    elif isinstance(value, list | dict):
        for x in value.values() if isinstance(value, dict) else value:
            yield from _names(x)


def _connect(segments: list[Segment], needed: set[str]) -> None:
    """Find what each segment reads, and which of its values are read later."""
    for segment in reversed(segments):
        made = {step.name for step in segment.instructions}
        used = {x for s in segment.instructions for x in _names([s.args, s.kwargs])}
        segment.outputs = sorted(made & needed)
        segment.inputs = sorted(used - made)
        needed = (needed - made) | set(segment.inputs)

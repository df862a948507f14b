# From a Python function to a functional graph of core operators; see
# docs/modules/graph-only.md.
"""The chip has neither strides nor in-place operators, so both are traced away."""

import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten

DECOMPOSITIONS = dict(core_aten_decompositions().items()) | get_decompositions(
    [
        aten._log_softmax,
        aten._softmax,
        aten._native_batch_norm_legit,
        aten._native_batch_norm_legit_functional,
        aten.native_batch_norm,  # it changes the running statistics without saying so
        aten.native_layer_norm,
        aten.native_layer_norm_backward,
    ]
)


# LITERALINCLUDE START: GRAPH_ONLY_LOWER
def lower(
    function: Callable[..., Any], examples: Sequence[Any], dynamic: bool = False
) -> tuple[GraphModule, dict[str, str]]:
    """Trace a function of tensors on the CPU; return the graph and what it writes."""
    functional = torch.func.functionalize(function, remove="mutations_and_views")  # (1)
    trace = make_fx(
        functional,
        decomposition_table=DECOMPOSITIONS,  # (2)
        tracing_mode="symbolic" if dynamic else "fake",
    )
    on_cpu = [torch.empty(x.shape, dtype=x.dtype) for x in examples]  # (3)
    with ThreadPoolExecutor(1) as thread:  # (4)
        module = thread.submit(trace, *on_cpu).result()
    return module, take_writes(module)


# LITERALINCLUDE END: GRAPH_ONLY_LOWER


def take_writes(module: GraphModule) -> dict[str, str]:
    """Replace copies into inputs by a table: the input, and what replaces its data."""
    writes: dict[str, str] = {}
    module.graph.eliminate_dead_code()  # now: later, only the table uses the results
    for node in list(module.graph.nodes):
        if node.target is aten.copy_.default:
            written = node.args[0]
            result = _broadcast(module, node)
            node.replace_all_uses_with(result)
            written.replace_all_uses_with(
                result, delete_user_cb=lambda user, node=node: user > node
            )
            module.graph.erase_node(node)
            writes[written.name] = result.name
    module.recompile()
    return writes


def _broadcast(module: GraphModule, node: Any) -> Any:
    """Give a result the dtype and sizes of what it replaces."""
    written, result = node.args[:2]
    old, new = written.meta["val"], result.meta["val"]
    if (old.dtype, old.shape) == (new.dtype, new.shape):
        return result
    with module.graph.inserting_before(node):
        made = module.graph.call_function(aten.copy.default, node.args[:2])
    made.meta["val"] = old
    return made


def is_general(module: GraphModule) -> bool:
    """Whether a graph with symbolic sizes holds for all of them."""
    for node in module.graph.nodes:
        if node.op == "call_function" and not is_known(node.target):
            return False  # a function of sizes that no binary has
    modes = {
        node.meta["val"].fake_mode
        for node in module.graph.nodes
        if isinstance(node.meta.get("val"), FakeTensor)
    }
    return not any(mode.shape_env.guards for mode in modes)


def is_known(target: Any) -> bool:
    """Whether a binary can hold a call of this function."""
    name = getattr(target, "__name__", "")
    return isinstance(target, torch._ops.OpOverload) or (
        getattr(operator, name, None) is target
    )

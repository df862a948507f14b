# Whole graphs: torch.compile and torch.export for the chip; see
# docs/modules/graph-only.md.
"""Dynamo or export makes the graph; the host that compiles needs no device."""

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from functorch.compile import make_boxed_func  # type: ignore[import-untyped]
from torch._dynamo.backends.common import aot_autograd

from .binary import Binary
from .chip import TOY, ChipError, Target, compile_graph
from .eager import device_of
from .lower import DECOMPOSITIONS


# LITERALINCLUDE START: GRAPH_ONLY_WHOLE
def compile_whole(
    module: torch.fx.GraphModule, examples: list[Any], missing: str = "host"
) -> Callable[..., Any]:
    """Compile what Dynamo traced: ``torch.compile(f, backend=compile_whole)``."""
    device = device_of(examples)
    if device is None:  # Dynamo calls a backend for graphs of every device
        return module

    def compile_one(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        binary = compile_graph(graph, missing=missing)  # (1)
        orders = [_order(x) for x in outputs_of(graph)]  # (2)

        def run(*values: Any) -> list[Any]:
            results = binary.run(values, device)
            return [_restride(x, o) for x, o in zip(results, orders, strict=True)]

        return make_boxed_func(run)

    compile_graphs = aot_autograd(
        fw_compiler=compile_one, bw_compiler=compile_one, decompositions=DECOMPOSITIONS
    )
    return compile_graphs(module, examples)


# LITERALINCLUDE END: GRAPH_ONLY_WHOLE


def outputs_of(graph: torch.fx.GraphModule) -> list[Any]:
    """The results of a graph that AOTAutograd made, as nodes or constants."""
    results: Any = graph.graph.output_node().args[0]
    return list(results)


def _order(output: Any) -> list[int]:
    """The dimensions of a promised result, from the largest stride to the smallest."""
    value = output.meta["val"] if isinstance(output, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor):
        return []
    hints = [getattr(getattr(x, "node", None), "hint", x) for x in value.stride()]
    return sorted(range(value.dim()), key=lambda i: -int(hints[i]))


def _restride(value: Any, order: list[int]) -> Any:
    """Give a contiguous result the layout that AOTAutograd takes views of."""
    if order == sorted(order):
        return value
    back = [order.index(i) for i in range(len(order))]
    return value.permute(order).contiguous().permute(back)


# LITERALINCLUDE START: GRAPH_ONLY_BUILD
def build(
    model: torch.nn.Module, examples: tuple[Any, ...], target: Target = TOY
) -> tuple[Binary, dict[str, torch.Tensor]]:
    """Compile a model on a host without the chip; return binary and weights."""
    program = torch.export.export(model, examples)
    program = program.run_decompositions(DECOMPOSITIONS)
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        raise ChipError("chip: the model writes to a buffer; call model.eval() first")
    binary = compile_graph(program.graph_module, target=target, missing="error")
    users = set(signature.user_inputs)
    weights = {
        spec.arg.name: _weight(program, spec.target)
        for spec in signature.input_specs
        if spec.arg.name not in users
    }
    return binary, weights


# LITERALINCLUDE END: GRAPH_ONLY_BUILD


def _weight(program: torch.export.ExportedProgram, name: str) -> torch.Tensor:
    value = program.state_dict.get(name, program.constants.get(name))
    assert isinstance(value, torch.Tensor)
    return value.detach()


def save(path: Path | str, binary: Binary, weights: dict[str, torch.Tensor]) -> None:
    """Write an artifact: the binary, and the weights of the CPU."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("binary.json", binary.dumps())
        with archive.open("weights.pt", "w") as file:
            torch.save(weights, file)


def load(path: Path | str, device: torch.device | str) -> Callable[..., Any]:
    """Load an artifact where the chip is; nothing is compiled."""
    with zipfile.ZipFile(path) as archive:
        binary = Binary.loads(archive.read("binary.json").decode())
        if binary.target != TOY.name:
            raise ChipError(f"chip: {path} is for {binary.target}, not {TOY.name}")
        with archive.open("weights.pt") as file:
            weights = torch.load(file, map_location=device, weights_only=True)
    held = torch.empty(0, device=device).device

    def call(*inputs: torch.Tensor) -> Any:
        users = iter(inputs)
        values = [weights[x] if x in weights else next(users) for x in binary.inputs]
        return binary.run(values, held)

    return call

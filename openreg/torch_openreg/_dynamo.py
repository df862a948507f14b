# A compiler backend of 60 lines; see docs/modules/compile-dynamo.md.
"""``torch.compile(f, backend="openreg")`` records each graph once and replays it."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from functorch.compile import make_boxed_func  # type: ignore[import-untyped]
from torch._dynamo import lookup_backend
from torch._dynamo.backends.common import aot_autograd
from torch.utils._pytree import tree_map_only

from torch_openreg import openreg

Values = Sequence[Any]


# VENDOR: keep it only if your driver records graphs; the entry point is in setup.py
# LITERALINCLUDE START: DYNAMO_BACKEND
def record_graphs(
    module: torch.fx.GraphModule, example_inputs: list[Any], **_: Any
) -> Callable[..., Any]:
    """Compile what Dynamo traced; the entry point names this function."""
    tensors = [x for x in example_inputs if isinstance(x, torch.Tensor)]
    devices = {x.device for x in tensors}
    if len(devices) != 1 or next(iter(devices)).type != "openreg":  # (1)
        return lookup_backend("inductor")(module, example_inputs)
    compile_graphs = aot_autograd(fw_compiler=_compile, bw_compiler=_compile)  # (2)
    return compile_graphs(module, example_inputs)


def _compile(module: torch.fx.GraphModule, _: Values) -> Callable[..., Any]:
    return make_boxed_func(_Recorded(module))  # (3)


# LITERALINCLUDE END: DYNAMO_BACKEND


# LITERALINCLUDE START: DYNAMO_CALL
class _Recorded:
    """A graph of operators that run without autograd and mutation."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        self._module = module
        self._records: dict[Any, Callable[[Values], Values]] = {}

    def __call__(self, *values: Any) -> Values:
        key = tuple(
            (x.device, x.dtype, x.shape, x.stride()) if torch.is_tensor(x) else x
            for x in values
        )
        if key not in self._records:
            self._records[key] = self._record(values)
        return self._records[key](values)

    # LITERALINCLUDE END: DYNAMO_CALL
    # LITERALINCLUDE START: DYNAMO_RECORD
    def _record(self, values: Values) -> Callable[[Values], Values]:
        inputs = tree_map_only(torch.Tensor, torch.clone, values)  # (1)
        stream, graph = openreg.Stream(), torch.accelerator.Graph()
        stream.wait_stream(openreg.current_stream())
        try:
            with stream, graph:
                outputs = self._module(*inputs)
        except torch.AcceleratorError:  # (2)
            return lambda values: self._module(*values)

        def replay(values: Values) -> Values:
            for static, value in zip(inputs, values, strict=True):
                if torch.is_tensor(static):
                    static.copy_(value)
            graph.replay()
            return tree_map_only(torch.Tensor, torch.clone, outputs)

        return replay

    # LITERALINCLUDE END: DYNAMO_RECORD

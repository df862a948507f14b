# Eager through the compiler, one operator at a time; see docs/modules/graph-only.md.
"""In a backend this is the boxed fallback; here a mode, because OpenReg has kernels."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from .binary import COUNTS, Binary, random_seed
from .cache import GraphCache
from .chip import ChipError, compile_graph
from .lower import is_general, lower

DEVICE = "openreg"
VALUE_DEPENDENT = (DataDependentOutputException, DynamicOutputShapeException)
CPU = torch.device("cpu")

NAMES = "empty empty_strided copy_ _to_copy _local_scalar_dense set_ resize_"
MEMORY = frozenset(NAMES.split())


def is_memory(function: torch._ops.OpOverload, flat: Sequence[Any]) -> bool:
    """Whether a call makes, moves or views memory, and computes nothing."""
    name = function._schema.name.removeprefix("aten::")
    if name in ("copy_", "_to_copy") and len(devices_of(flat)) == 1:
        dtypes = {x.dtype for x in flat if isinstance(x, torch.Tensor)}
        return len(dtypes | {x for x in flat if isinstance(x, torch.dtype)}) == 1
    return function.is_view or function.namespace != "aten" or name in MEMORY


def devices_of(flat: Sequence[Any]) -> set[torch.device]:
    """The devices of all tensors and arguments of a call."""
    tensors = {x.device for x in flat if isinstance(x, torch.Tensor)}
    named = {x for x in flat if isinstance(x, torch.device)}
    current = torch.device(DEVICE, torch.accelerator.current_device_index())
    return tensors | {current if x == torch.device(DEVICE) else x for x in named}


def device_of(flat: Sequence[Any]) -> torch.device | None:
    """The device of a call, from its tensors or its argument ``device``."""
    return next((x for x in devices_of(flat) if x.type == DEVICE), None)


class NeedsFixedSizes(Exception):
    """The graph of an operator holds for some sizes only."""


class GraphEager(TorchDispatchMode):
    """Compile each operator on the device as a graph, and run the graph."""

    def __init__(
        self,
        cache: GraphCache | None = None,
        dynamic: bool = False,
        missing: str = "host",
    ) -> None:
        """With ``dynamic``, one binary serves all sizes where the operator allows."""
        super().__init__()
        self.cache = GraphCache() if cache is None else cache
        self.dynamic, self.missing = dynamic, missing
        self._fixed: set[torch._ops.OpOverload] = set()

    # LITERALINCLUDE START: GRAPH_ONLY_EAGER
    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        flat, spec = tree_flatten((args, kwargs))
        device = device_of(flat)
        if device is None or is_memory(func, flat):  # (1)
            return func(*args, **kwargs)
        resize_out(func, args, kwargs)
        try:
            binary = self._find(func, flat, spec)
        except VALUE_DEPENDENT:  # (2)
            return on_host(func, args, kwargs, device, self.missing)
        results = binary.run([x for x in flat if torch.is_tensor(x)], device)
        result = results[0] if len(results) == 1 else tuple(results)
        return return_and_correct_aliasing(func, args, kwargs, result)  # (3)

    # LITERALINCLUDE END: GRAPH_ONLY_EAGER

    # LITERALINCLUDE START: GRAPH_ONLY_KEY
    def _find(self, func: Any, flat: list[Any], spec: Any) -> Binary:
        tensors = [x for x in flat if isinstance(x, torch.Tensor)]
        key = f"{func} {spec} {[_option(x) for x in flat]} {self.missing}"
        if self.dynamic and func not in self._fixed:
            try:
                symbols = key + str(describe(tensors, True))
                return self.cache.get(symbols, lambda: self._compile(func, flat, spec))
            except NeedsFixedSizes:
                self._fixed.add(func)
        sizes = key + str(describe(tensors, False))
        return self.cache.get(sizes, lambda: self._compile(func, flat, spec))

    # LITERALINCLUDE END: GRAPH_ONLY_KEY

    def _compile(self, func: Any, flat: list[Any], spec: Any) -> Binary:
        def operator(*inputs: torch.Tensor) -> list[Any]:
            values = iter(inputs)
            made = [_swap(x, values) for x in flat]
            args, kwargs = tree_unflatten(made, spec)
            result = func(*args, **kwargs)
            return list(result) if isinstance(result, list | tuple) else [result]

        check_call(func, flat, spec)
        tensors = [x for x in flat if isinstance(x, torch.Tensor)]
        dynamic = self.dynamic and func not in self._fixed
        module, writes = lower(operator, tensors, dynamic)
        if dynamic and not is_general(module):
            raise NeedsFixedSizes
        return compile_graph(module, writes, missing=self.missing)


def check_call(func: Any, flat: list[Any], spec: Any) -> Any:
    """Raise PyTorch's own errors about devices, dtypes and sizes; return fake results.

    The graph itself is traced on the CPU, which would hide a tensor of another device.
    """
    with FakeTensorMode():
        args, kwargs = tree_unflatten([_fake(x) for x in flat], spec)
        return func(*args, **kwargs)


def _fake(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(
        value.shape, value.stride(), dtype=value.dtype, device=value.device
    )


def _swap(value: Any, tensors: Any) -> Any:
    """Put the graph's inputs where the call has tensors, and the CPU for the device."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, torch.Generator):
        return None
    return CPU if isinstance(value, torch.device) else value


def _option(value: Any) -> Any:
    if isinstance(value, torch.Generator):
        raise ChipError(
            "chip: a generator cannot be an argument; use torch.manual_seed"
        )
    return None if isinstance(value, torch.Tensor) else value


def describe(tensors: Sequence[torch.Tensor], dynamic: bool) -> list[Any]:
    """The part of a key about tensors: exact sizes, or which sizes are equal."""
    if not dynamic:
        return [(x.device, x.dtype, tuple(x.shape)) for x in tensors]
    symbols: dict[int, str] = {0: "0", 1: "1"}  # never symbols: 1 broadcasts
    for size in (size for x in tensors for size in x.shape):
        symbols.setdefault(size, f"s{len(symbols)}")
    return [(x.device, x.dtype, [symbols[size] for size in x.shape]) for x in tensors]


def resize_out(func: Any, args: Any, kwargs: Any) -> None:
    """Give each ``out`` tensor the sizes of the result, as kernels do."""
    outs = [x.name for x in func._schema.arguments if x.is_out]
    if not outs or not all(torch.is_tensor(kwargs.get(name)) for name in outs):
        return
    meta = tree_map_only(torch.Tensor, lambda x: x.to("meta"), (args, kwargs))
    func(*meta[0], **meta[1])
    for name in outs:
        if kwargs[name].shape != meta[1][name].shape:
            kwargs[name].resize_(meta[1][name].shape)


def on_host(func: Any, args: Any, kwargs: Any, device: Any, missing: str) -> Any:
    """Run an operator whose result's sizes depend on values; no graph can hold it."""
    if missing == "error":
        raise ChipError(f"chip: the sizes of {func}'s result depend on values")
    COUNTS.host[str(func)] += 1
    on_cpu = tree_map_only(torch.Tensor, lambda x: x.cpu(), (args, kwargs))
    with random_seed(func, device):
        result = func(*on_cpu[0], **on_cpu[1])
    return tree_map_only(torch.Tensor, lambda x: x.to(device), result)

# Compares results with what torch's fake tensors promise; see
# docs/modules/compile-dynamo.md.
"""A compiler plans with fake tensors, so kernels must return what these look like.

Every call of an operator with a kernel of the device, in the samples of the operator
database, forward and backward, is made with fake tensors first.
"""

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

NOT_KNOWN = (DataDependentOutputException, DynamicOutputShapeException)
# Their kernels call others, which have kernels of the device and no fake tensors.
COMPOSITE = (
    torch.ops.aten.convolution.default,
    torch.ops.aten.convolution_backward.default,
)
DTYPES = (torch.float32, torch.int64, torch.complex64)


def look(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What a compiler plans with; not the strides that no element depends on."""
    sizes = tuple(tensor.shape)
    strides = [
        stride if size > 1 and tensor.numel() else None
        for size, stride in zip(sizes, tensor.stride(), strict=True)
    ]
    return sizes, strides, tensor.dtype, tensor.storage_offset(), str(tensor.device)


# LITERALINCLUDE START: FAKE_LAYOUTS
class CompareWithFake(TorchDispatchMode):
    """Calls each operator of the device twice, and keeps what differs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.alike: Counter[str] = Counter()
        self.different: dict[str, str] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        given = (args, kwargs or {})
        if not has_kernel(func) or not self._is_new(func, given):
            return func(*given[0], **given[1])
        mode = FakeTensorMode()
        fakes = tree_map_only(
            torch.Tensor, lambda x: mode.from_tensor(x, static_shapes=True), given
        )
        expected = None
        with contextlib.suppress(*NOT_KNOWN), mode:  # depends on values
            expected = func(*fakes[0], **fakes[1])
        actual = func(*given[0], **given[1])
        if expected is not None:
            self._compare(str(func), tree_leaves(actual), tree_leaves(expected))
        return actual

    # LITERALINCLUDE END: FAKE_LAYOUTS

    def _is_new(self, func: torch._ops.OpOverload, given: Any) -> bool:
        leaves = tree_leaves(given)
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        if any(x.layout != torch.strided for x in tensors):
            return False
        described = [
            (x.stride(), look(x)) if isinstance(x, torch.Tensor) else x for x in leaves
        ]
        key = f"{func} {described}"
        new = key not in self.seen
        self.seen.add(key)
        return new

    def _compare(self, name: str, actual: list[Any], expected: list[Any]) -> None:
        pairs = [
            (look(one), look(other))
            for one, other in zip(actual, expected, strict=True)
            if isinstance(one, torch.Tensor) and one.layout == torch.strided
        ]
        wrong = [pair for pair in pairs if pair[0] != pair[1]]
        if wrong:
            self.different[name] = "{} instead of {}".format(*wrong[0])
        else:
            self.alike[name] += 1


def has_kernel(func: torch._ops.OpOverload) -> bool:
    if func in COMPOSITE:
        return True
    of_device = torch._C._dispatch_has_kernel_for_dispatch_key
    return func.namespace == "aten" and of_device(func.name(), "PrivateUse1")


def samples(op: OpInfo, limit: int | None) -> Iterator[Any]:
    for dtype in DTYPES:
        if dtype in op.supported_dtypes("cpu"):
            grad = op.supports_autograd and dtype.is_floating_point
            every = op.sample_inputs_func(op, "openreg", dtype, grad)
            return itertools.islice(every, limit)
    return iter(())


def channels_last(argument: Any) -> Any:
    """Give a tensor that may be a batch of images the strides of channels last."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if not isinstance(argument, torch.Tensor) or argument.dim() not in formats:
        return argument
    if argument.layout != torch.strided:
        return argument
    same = argument.detach().contiguous(memory_format=formats[argument.dim()])
    return same.requires_grad_(argument.requires_grad)


def compare(
    limit: int | None = None,
    all_of: frozenset[str] = frozenset(),
    change: Callable[[Any], Any] = lambda argument: argument,
):
    """Run `limit` samples of each operator, and all samples of some.

    Args:
        change: is called with each argument of a sample, and returns what replaces it.
    """
    mode = CompareWithFake()
    for op in op_db:
        for sample in samples(op, None if op.name in all_of else limit):
            given = sample.input, sample.args, sample.kwargs
            given, args, kwargs = tree_map(change, given)
            # Calls that the device refuses are other tests' matter.
            with contextlib.suppress(Exception), mode:
                results = tree_leaves(op(given, *args, **kwargs))
                differentiable = [
                    x for x in results if torch.is_tensor(x) and x.requires_grad
                ]
                if differentiable:
                    ones = [torch.ones_like(x) for x in differentiable]
                    torch.autograd.backward(differentiable, ones)
    return mode


if __name__ == "__main__":  # all samples
    found = compare()
    for name, text in sorted(found.different.items()):
        print(name, text)
    print(f"{len(found.alike)} operators, {sum(found.alike.values())} calls")

# Makes tensors with gaps in larger memory; see docs/ship/sweep.md.
"""The memory in the gaps is a guard band: no kernel may write it or read it."""

from typing import Any

import torch
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_map

from .mirror import parts, tensors


def guard(dtype: torch.dtype) -> complex:
    """Return a value that spoils a result, or is an invalid index, if it is read."""
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return 1 if dtype == torch.bool else 113


def view_in_memory(
    shape: torch.Size | tuple[int, ...],
    dtype: torch.dtype,
    device: torch.device | str,
    *,
    transposed: bool,
) -> torch.Tensor:
    """Return a view with a gap between all elements of its first and last dimension.

    Args:
        transposed: the first dimension is the one whose elements lie closest.
    """
    sizes = tuple(reversed(shape)) if transposed else tuple(shape)
    steps = [2 if place in (0, len(sizes) - 1) else 1 for place in range(len(sizes))]
    larger = [step * size + 2 for step, size in zip(steps, sizes, strict=True)]
    memory = torch.full(larger or [3], guard(dtype), dtype=dtype, device=device)
    if not sizes:
        return memory[1]
    ranges = zip(steps, sizes, strict=True)
    view = memory[tuple(slice(1, 1 + step * size, step) for step, size in ranges)]
    return view.permute(*range(len(sizes) - 1, -1, -1)) if transposed else view


def in_gaps(sample: SampleInput) -> SampleInput:
    """Return a sample whose tensors are views in larger memory, each in its own."""
    seen: dict[int, torch.Tensor] = {}

    def leaf(value: Any) -> Any:
        if not is_plain(value):
            return value
        if id(value) not in seen:
            transposed = len(seen) % 2 == 1 and value.dim() > 1
            view = view_in_memory(
                value.shape, value.dtype, value.device, transposed=transposed
            )
            seen[id(value)] = view.copy_(value)
        return seen[id(value)]

    value, args, kwargs = tree_map(leaf, parts(sample))
    return SampleInput(value, args=args, kwargs=kwargs)


def is_plain(value: Any) -> bool:
    """Return whether this is a tensor with memory of the usual kind."""
    return (
        type(value) is torch.Tensor
        and value.layout == torch.strided
        and not value.is_meta
        and not value.is_quantized
    )


def memories(tree: Any) -> list[torch.Tensor]:
    """Return all of the memory of each tensor, with the gaps."""
    found = []
    for tensor in tensors(tree):
        if is_plain(tensor):
            storage = tensor.untyped_storage()
            count = storage.nbytes() // tensor.element_size()
            whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            found.append(whole.set_(storage, 0, (count,), (1,)))
    return found

# Copies samples to a device, strides and all; see docs/ship/sweep.md.
from typing import Any

import torch
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_leaves, tree_map


def mirror(
    sample: SampleInput, device: str | None, *, only_input: bool = False
) -> SampleInput:
    """Return a copy of a sample.

    Args:
        device: where to; ``None`` leaves each tensor where it is.
        only_input: leave the other arguments where they are.
    """
    move, copy = _Mirror(device), _Mirror(None)
    rest = copy if only_input else move
    return SampleInput(
        move(sample.input),
        args=rest(sample.args),
        kwargs=rest(sample.kwargs),
        output_process_fn_grad=sample.output_process_fn_grad,
    )


def parts(sample: SampleInput) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return sample.input, sample.args, sample.kwargs


def names_a_device(sample: SampleInput) -> bool:
    """Return whether any argument is a device, or a tensor, which is on one."""
    return any(
        isinstance(leaf, torch.Tensor) or _is_the_cpu(leaf)
        for leaf in tree_leaves(parts(sample))
    )


def _is_the_cpu(leaf: Any) -> bool:
    return isinstance(leaf, str | torch.device) and str(leaf) == "cpu"


def tensors(tree: Any) -> list[torch.Tensor]:
    """Return all tensors in a tree of lists, tuples and dictionaries."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


class _Mirror:
    """Copies tensors: same strides, and what shares memory shares memory again."""

    def __init__(self, device: str | None) -> None:
        self.device = device
        self._storages: dict[int, torch.UntypedStorage] = {}
        self._tensors: dict[int, torch.Tensor] = {}

    def __call__(self, tree: Any) -> Any:
        return tree_map(self._leaf, tree)

    def _leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            if id(leaf) not in self._tensors:
                self._tensors[id(leaf)] = self._tensor(leaf)
            return self._tensors[id(leaf)]
        if isinstance(leaf, torch.Generator):
            copy = torch.Generator(self.device or leaf.device)
            return copy.manual_seed(leaf.initial_seed())
        if isinstance(leaf, torch.UntypedStorage):
            return self._storage(leaf, self.device or leaf.device)
        if _is_the_cpu(leaf) and self.device is not None:
            return type(leaf)(self.device)
        return leaf

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta:  # among bad arguments
            return tensor
        device = self.device or tensor.device
        if getattr(tensor, "on_host", False):
            device = tensor.device
        plain = tensor.detach()
        is_plain = type(plain) is torch.Tensor and not plain.is_quantized
        if plain.layout != torch.strided or not is_plain:
            copy = plain.clone().to(device)
        else:
            conjugate, negative = plain.is_conj(), plain.is_neg()
            plain = plain.conj() if conjugate else plain
            plain = plain._neg_view() if negative else plain
            copy = torch.empty(0, dtype=tensor.dtype, device=device)
            place = plain.storage_offset(), plain.size(), plain.stride()
            copy.set_(self._storage(plain.untyped_storage(), device), *place)
            copy = copy._neg_view() if negative else copy
            copy = copy.conj() if conjugate else copy
        return copy.requires_grad_(tensor.requires_grad)

    def _storage(
        self, storage: torch.UntypedStorage, device: str | torch.device
    ) -> torch.UntypedStorage:
        if storage._cdata not in self._storages:
            copy = storage.clone().to(device=torch.device(device))
            self._storages[storage._cdata] = copy
        return self._storages[storage._cdata]

# Keeps a CPU copy of each memory of the device; see docs/ship/parity.md.
"""The twin of a tensor: the same view of memory that only the CPU has computed.

Twins belong to storages, not to tensors: views share them, an in-place write through
one view shows in the others, and autograd may hand out new tensors of old memory.
"""

from typing import Any

import torch
from torch import Tensor, UntypedStorage

ATTRIBUTE = "_twin_on_the_cpu"  # of a storage; it lives as long as the memory


def has_twin(tensor: Tensor) -> bool:
    """Whether the CPU has computed a value of this memory."""
    return _has_memory(tensor) and hasattr(tensor.untyped_storage(), ATTRIBUTE)


# LITERALINCLUDE START: TWIN_OF_STORAGE
def twin(tensor: Tensor) -> Tensor:
    """Return the tensor's twin on the CPU, at first with the device's values."""
    if not _has_memory(tensor):
        return tensor.detach().cpu()  # sparse, for example: always the device's values
    storage = tensor.untyped_storage()
    mine = getattr(storage, ATTRIBUTE, None)
    if mine is None or mine.nbytes() != storage.nbytes():  # new, or resized
        mine = bytes_of(storage)
        setattr(storage, ATTRIBUTE, mine)
    return _as(tensor, mine)


# LITERALINCLUDE END: TWIN_OF_STORAGE
def settle(tensor: Tensor, value: Tensor) -> None:
    """Make a value that the CPU computed the twin of a result of the device."""
    if not _has_memory(tensor) or not _has_memory(value):
        return
    storage = tensor.untyped_storage()
    mine = getattr(storage, ATTRIBUTE, None)
    if mine is None or mine.nbytes() != storage.nbytes():
        covers_all = tensor.numel() * tensor.element_size() == storage.nbytes()
        mine = UntypedStorage(storage.nbytes()) if covers_all else bytes_of(storage)
        setattr(storage, ATTRIBUTE, mine)
    view = _as(tensor, mine)
    if view.data_ptr() != value.data_ptr() or view.stride() != value.stride():
        view.copy_(value)


def forget(tensor: Tensor) -> None:
    """Take the device's values from now on: the CPU could not compute them."""
    if has_twin(tensor):
        delattr(tensor.untyped_storage(), ATTRIBUTE)


def bytes_of(storage: UntypedStorage) -> UntypedStorage:
    """Return a copy on the CPU, by a way that every device has."""
    raw = torch.empty(0, dtype=torch.uint8, device=storage.device)
    return raw.set_(storage).to("cpu", copy=True).untyped_storage()


def duplicate(value: Any, device: torch.device | None = None) -> Any:
    """Copy a tensor, gaps and strides included, to the device or where it is."""
    if not isinstance(value, Tensor):
        return value
    if not _has_memory(value) or value.is_contiguous():
        return value.clone() if device is None else value.to(device, copy=True)
    run = flat(value)
    copied = run if device is None else run.to(device)
    view = copied.as_strided(value.size(), value.stride(), 0)
    return view.conj() if value.is_conj() else view


def extent(tensor: Tensor) -> int:
    """How many elements lie between the first one and the last one."""
    steps = zip(tensor.size(), tensor.stride(), strict=True)
    return 1 + sum((size - 1) * stride for size, stride in steps)


def flat(tensor: Tensor) -> Tensor:
    """Copy the memory from the first element to the last one, gaps included."""
    return tensor.as_strided((extent(tensor),), (1,)).clone()


def _has_memory(tensor: Tensor) -> bool:
    """Whether the values are in a storage: not in indices, or in an array of Python."""
    if tensor.layout is not torch.strided or tensor.numel() == 0:
        return False
    last = tensor.storage_offset() + extent(tensor)
    return last * tensor.element_size() <= tensor.untyped_storage().nbytes()


def _as(tensor: Tensor, storage: UntypedStorage) -> Tensor:
    """Return the view of this storage that the tensor is of its own."""
    view = torch.empty(0, dtype=tensor.dtype).set_(
        storage, tensor.storage_offset(), tensor.size(), tensor.stride()
    )
    return view.conj() if tensor.is_conj() else view

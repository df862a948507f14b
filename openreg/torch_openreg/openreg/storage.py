# What tensors and storages of the device carry; see docs/runtime/storage.md.
"""Storage ids and tensor tags: data that a backend can add to torch objects."""

from collections.abc import Mapping

import torch

from torch_openreg import _C

__all__ = ["get_tensor_tags", "set_tensor_tags", "storage_id"]


def storage_id(tensor: torch.Tensor) -> int:
    """Return the id of a tensor's storage, which no other storage ever gets.

    Use it as a key for what you keep about the contents of a tensor. ``data_ptr()`` is
    no key: the allocator gives the memory of a dead tensor to the next one.

    Raises:
        ValueError: the storage was not made by this backend.
    """
    return _C._storage_id(tensor)


def get_tensor_tags(tensor: torch.Tensor) -> dict[str, bool]:
    """Return the tags of an openreg tensor: names that are true or false.

    Raises:
        ValueError: the tensor is on another device.
    """
    return _C._tensor_tags(tensor)


def set_tensor_tags(tensor: torch.Tensor, tags: Mapping[str, bool]) -> None:
    """Replace the tags of an openreg tensor; ``torch.save`` keeps them.

    Raises:
        ValueError: the tensor is on another device, or a name is ``"conj"`` or
            ``"neg"``, which torch uses itself.
    """
    _C._set_tensor_tags(tensor, dict(tags))

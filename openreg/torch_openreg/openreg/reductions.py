# Sends tensors to other processes; see docs/frontend/multiprocessing.md.
"""Lets ``torch.multiprocessing`` send device memory."""

from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from torch_openreg import _C

__all__ = ["ipc_collect"]


# LITERALINCLUDE START: REBUILD_STORAGE
def _rebuild_storage(message: bytes) -> torch.UntypedStorage:
    """Return the storage of another process behind a message.

    Raises:
        RuntimeError: the sender has ended, or the memory was released to it.
        ValueError: the bytes are no message, or name a device that is not here.
    """
    _C._initialize()
    return _C._ipc_receive(message)


def _rebuild_empty_storage(index: int) -> torch.UntypedStorage:
    """Return a storage without memory."""
    return torch.UntypedStorage(0, device=torch.device("openreg", index))


# LITERALINCLUDE END: REBUILD_STORAGE


# LITERALINCLUDE START: REDUCE_STORAGE
def _reduce_storage(
    storage: torch.UntypedStorage,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return how a storage is rebuilt in another process: ours by sharing its memory.

    Raises:
        RuntimeError: the memory was itself received from another process, or this
            process was forked after the device was used.
    """
    if storage.device.type != "openreg":
        return reductions.reduce_storage(storage)  # (1)
    if storage.nbytes() == 0:
        return _rebuild_empty_storage, (storage.device.index,)
    _C._initialize()
    return _rebuild_storage, (_C._ipc_send(storage),)  # (2)


def _register() -> None:
    """Let ``torch.multiprocessing`` send storages of the device."""
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)  # (3)


# LITERALINCLUDE END: REDUCE_STORAGE


def ipc_collect() -> None:
    """Free memory that was sent to other processes and that none of them uses.

    Sending a tensor collects as well, and so does an allocation on a full device. As
    ``torch.cuda.ipc_collect``.

    Raises:
        RuntimeError: in a child process that was forked after the device was used.
    """
    _C._initialize()
    _C._ipc_collect()

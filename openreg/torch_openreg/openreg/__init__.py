# The device module torch.openreg; see docs/frontend/device-module.md.
"""Devices of the simulated accelerator OpenReg, with the names of ``torch.cuda``."""

import logging
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.compiler import is_dynamo_compiling

from torch_openreg import _C, simulator

from . import (  # noqa: F401  torch looks them up
    _distributed,
    _engine,
    _gpu_trace,
    _sharding,
    _utils,
    legacy_storages,
    memory,
    streams,
)
from ._contexts import Blocks as _Blocks
from ._utils import Device as _Device
from ._utils import _get_current_index, _get_device_index
from .amp import get_amp_supported_dtype
from .capabilities import (
    can_device_access_peer,
    device_memory_used,
    get_device_capability,
    is_bf16_supported,
    is_tf32_supported,
)
from .fallback import (
    fallback_counts,
    fallback_mode,
    fallbacks,
    reset_fallback_counts,
    set_fallback_mode,
)
from .legacy_storages import *  # noqa: F403  see __all__
from .memory import *  # noqa: F403  see __all__
from .random import (
    _get_generator,  # noqa: F401  torch's compiler looks it up
    default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .reductions import ipc_collect
from .storage import get_tensor_tags, set_tensor_tags, storage_id
from .streams import *  # noqa: F403  see __all__
from .streams import (
    _set_stream_by_id,  # noqa: F401  Dynamo looks it up
    _sleep,  # noqa: F401  torch's tests look it up
)

__all__ = [
    "can_device_access_peer",
    "current_device",
    "default_generators",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "fallback_counts",
    "fallback_mode",
    "fallbacks",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "get_tensor_tags",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "memory",
    "reset_fallback_counts",
    "seed",
    "seed_all",
    "set_device",
    "set_fallback_mode",
    "set_rng_state",
    "set_rng_state_all",
    "set_tensor_tags",
    "simulator",
    "storage_id",
    "streams",
    "synchronize",
]
__all__ += legacy_storages.__all__
__all__ += memory.__all__
__all__ += streams.__all__

_log = logging.getLogger(__name__)


def _inductor_backend_init() -> None:
    """Register with Inductor: torch 2.15 calls this before its first compilation."""
    import_module("torch_openreg._inductor").register()


# LITERALINCLUDE START: LAZY_INIT_PYTHON
def _lazy_init() -> None:
    """Start the device. Torch calls this before it creates the first tensor on it.

    Raises:
        RuntimeError: in a child process that was forked after the device was used.
        torch.AcceleratorError: there is no device, or the driver does not work.
    """
    first = not _C._is_initialized()
    _C._initialize()
    if first:
        _log_devices()


if not TYPE_CHECKING:  # or type checkers would accept every name

    def __getattr__(name: str) -> bool:
        """Answer ``_initialized``, which torch.utils.checkpoint reads, as it is now."""
        if name == "_initialized":
            return is_initialized()
        if name == "Scheduling":  # Inductor of torch 2.13 and 2.14 looks for it
            _inductor_backend_init()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# LITERALINCLUDE END: LAZY_INIT_PYTHON


def _log_devices() -> None:
    """Log the start for TORCH_LOGS=openreg, and each device for TORCH_LOGS=+openreg."""
    _log.info(
        "openreg: started, devices: %d, fallback mode: %s",
        device_count(),
        fallback_mode(),
    )
    if _log.isEnabledFor(logging.DEBUG):
        for index in range(device_count()):
            name, memory = get_device_properties(index)[:2]
            _log.debug("openreg: device %d is %s, %d MiB", index, name, memory >> 20)


def init() -> None:
    """Start the device now, rather than when it is first used.

    Raises:
        RuntimeError: in a child process that was forked after the device was used.
        torch.AcceleratorError: there is no device, or the driver does not work.
    """
    _lazy_init()


def is_initialized() -> bool:
    """Return whether this process has started the device."""
    return _C._is_initialized()


def _is_in_bad_fork() -> bool:
    """Return whether this process was forked after the device had been used."""
    return _C._is_in_bad_fork()


# LITERALINCLUDE START: MODULE_COUNT
def is_available() -> bool:
    """Return whether there is a device. Never raises; does not prevent forking."""
    if is_dynamo_compiling():  # also below: a function that Dynamo can trace
        return torch.accelerator.is_available()
    return _C._device_count() > 0


def device_count() -> int:
    """Return the number of devices; 0 without a working driver."""
    return _C._device_count()


# LITERALINCLUDE END: MODULE_COUNT


# LITERALINCLUDE START: MODULE_DEVICES
def current_device() -> int:
    """Return the index of the calling thread's current device.

    Raises:
        torch.AcceleratorError: there is no device, or another process started it and
            forked this one.
    """
    if is_dynamo_compiling():
        return torch.accelerator.current_device_index()
    return _C._current_device()


def set_device(device: _Device) -> None:
    """Make a device current for the calling thread; a negative index does nothing.

    Raises:
        ValueError: the device has no index, or is of another type.
        torch.AcceleratorError: there is no such device; or as :func:`current_device`.
    """
    index = _get_device_index(device, optional=False)
    if index >= 0:  # (1)
        switch = torch.accelerator.set_device_index
        (switch if is_dynamo_compiling() else _C._set_device)(index)  # (2)


# LITERALINCLUDE END: MODULE_DEVICES
def synchronize(device: _Device | None = None) -> None:
    """Wait until all work on a device is done; by default, on the current one.

    Raises:
        ValueError: the device is of another type.
        torch.AcceleratorError: there is no such device, or a kernel on it failed.
    """
    if is_dynamo_compiling():
        torch.accelerator.synchronize(*(() if device is None else (device,)))
        return
    if device is None and not (is_initialized() or _is_in_bad_fork()):
        return  # no work yet: torch.profiler also calls this after CPU programs
    _lazy_init()
    _C._synchronize(_get_current_index(device))


class DeviceProperties(NamedTuple):
    """What the driver reports of a device."""

    name: str
    total_memory: int  #: in bytes
    major: int
    minor: int
    multi_processor_count: int


def get_device_properties(device: _Device | None = None) -> DeviceProperties:
    """Return name, memory and version of a device; by default, of the current one.

    Raises:
        ValueError: the device is of another type.
        torch.AcceleratorError: there is no such device.
    """
    return DeviceProperties(**_C._device_properties(_get_device_index(device)))


def get_device_name(device: _Device | None = None) -> str:
    """Return the name of a device; by default, of the current one.

    Raises:
        ValueError: the device is of another type.
        torch.AcceleratorError: there is no such device.
    """
    return get_device_properties(device).name


# LITERALINCLUDE START: DEVICE_CONTEXT
class device:
    """Context manager that makes a device current; ``None`` and -1 do nothing.

    On exit it restores the device that was current on entry. The same
    object can be entered again, also within itself and by other threads.

    Raises:
        ValueError: the device is of another type.
        torch.AcceleratorError: there is no such device (on entering).
    """

    def __init__(self, device: _Device | None) -> None:
        self.idx = -1 if device is None else _get_device_index(device)
        self._previous: _Blocks[int] = _Blocks()

    def __enter__(self) -> None:
        if self.idx >= 0:
            self._previous.enter(_C._exchange_device(self.idx))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.idx >= 0:
            _C._set_device(self._previous.leave())


# LITERALINCLUDE END: DEVICE_CONTEXT


class device_of(device):
    """Context manager that makes the device of a tensor or storage current.

    Objects on devices of another type do nothing.
    """

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage) -> None:
        where = obj.device
        super().__init__(where if where.type == "openreg" else -1)

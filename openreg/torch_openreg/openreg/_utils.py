# Which device a caller means; see docs/frontend/device-module.md.
"""Device indices from all forms in which a device can be passed."""

import operator

import torch

import torch_openreg
from torch_openreg import _C

# What torch accepts as a device: an index, "openreg", "openreg:1" or a torch.device.
Device = int | str | torch.device


def _get_device_index(device: Device | None, optional: bool = True) -> int:
    """Return the index of a device; torch.load calls this as well.

    Args:
        device: an index, ``"openreg"``, ``"openreg:1"``, a ``torch.device`` or a
            ``torch.openreg.device``; without an index it means the current device, and
            so does ``None``.
        optional: False rejects a device without an index.

    Raises:
        ValueError: it is none of these, the device is of another type, or it lacks an
            index that is required.
        torch.AcceleratorError: the index does not fit into torch's type for it.
    """
    # LITERALINCLUDE START: GET_DEVICE_INDEX
    if isinstance(device, int):
        if not -128 <= device <= 127:  # C++ would truncate it, or raise a TypeError
            _C._check_device_index(max(min(device, 2**63 - 1), -(2**63)))
        return int(device)  # (1)
    if isinstance(device, str):
        device = torch.device(device)
    index = None
    if isinstance(device, torch.device):
        if device.type != "openreg":
            raise ValueError(f"Expected an openreg device, but got: {device}")
        index = device.index
    elif isinstance(device, torch_openreg.openreg.device):
        index = device.idx
    elif device is not None:
        optional = False  # (2)
    if index is None and not optional:
        raise ValueError(
            "Expected a torch.device with a specified index or an integer, but got:"
            f"{device}"
        )
    if index is None:
        return _C._current_device() if _C._device_count() > 0 else 0  # (3)
    return index
    # LITERALINCLUDE END: GET_DEVICE_INDEX


def _get_current_index(device: Device | None) -> int:
    """Return a device's index; None and negative numbers mean the current device."""
    index = _get_device_index(device)
    return _C._current_device() if index < 0 else index


def _integer(value: object, what: str) -> int:
    """Return an argument as an int.

    Raises:
        TypeError: it is none. pybind11's own message names a private function instead.
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise TypeError(f"openreg: {what} is {value!r}, not an int") from error


def _external_stream(handle: object, index: int) -> torch.Stream:
    """Return the stream of a driver's handle.

    Raises:
        torch.AcceleratorError: it is not that of a live stream.
        TypeError: it is not an int.
        ValueError: it does not fit into 64 bits, or its stream is on another device.
    """
    number = _integer(handle, "the handle of a stream")
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"openreg: {number} is not the handle of a stream")
    return _C._external_stream(number, index)

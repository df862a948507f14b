# Which device a caller means; see docs/frontend/device-module.md.
"""Device indices from all the ways in which a device can be spelled."""

import torch

from torch_openreg import _C

# What torch accepts as a device: an index, "openreg", "openreg:1" or a torch.device.
Device = int | str | torch.device


# LITERALINCLUDE START: GET_DEVICE_INDEX
def _get_device_index(device: Device | None, optional: bool = True) -> int:
    """Return the index of a device; torch.load calls this as well.

    Args:
        device: an index, ``"openreg"``, ``"openreg:1"`` or a ``torch.device``; without
            an index it means the current device, and so does ``None``.
        optional: False refuses a device without an index.

    Raises:
        TypeError: it is none of these.
        ValueError: the device is of another type, or lacks an index that is required.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if device is not None and not isinstance(device, torch.device):
        raise TypeError(
            f"openreg: expected an index, a string or a torch.device, not {device!r}"
        )
    if device is not None and device.type != "openreg":
        raise ValueError(f"openreg: expected an openreg device, but got {device}")
    index = None if device is None else device.index
    if index is None and not optional:
        raise ValueError(f"openreg: expected a device with an index, but got {device}")
    if index is None:
        # Without a device none is current. Index 0 then fails where it is used, and
        # torch.load says in its own words that there is no device.
        return _C._current_device() if _C._device_count() > 0 else 0
    return index


# LITERALINCLUDE END: GET_DEVICE_INDEX

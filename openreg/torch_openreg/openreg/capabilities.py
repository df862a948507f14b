# What a device can do; see docs/frontend/accelerator-api.md.
"""Queries of a device, with the names of torch.xpu."""

import torch

from torch_openreg import _C

from ._utils import Device as _Device
from ._utils import _get_device_index


def get_device_capability(device: _Device | None = None) -> dict[str, object]:
    """Return the properties of a device as a dictionary, as torch.xpu does.

    Raises:
        torch.AcceleratorError: there is no such device.
    """
    return dict(_C._device_properties(_get_device_index(device)))


# VENDOR: which pairs of devices reach each other's memory
def can_device_access_peer(device: _Device, peer: _Device) -> bool:
    """Return whether kernels of a device reach the memory of another: always, here.

    Raises:
        torch.AcceleratorError: there is no such device.
    """
    get_device_capability(device)
    get_device_capability(peer)
    return True


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether there are kernels for bfloat16, computed exactly or emulated."""
    supported = torch.accelerator.get_device_capability("openreg")["supported_dtypes"]
    return including_emulation and torch.bfloat16 in supported


def is_tf32_supported() -> bool:
    """Return whether float32 products may be computed in TF32: never, here."""
    return False


def device_memory_used(device: _Device | None = None) -> int:
    """Return how many bytes of a device are not free, cached ones included.

    Raises:
        torch.AcceleratorError: there is no such device.
    """
    free, total = torch.accelerator.get_memory_info(_get_device_index(device))
    return total - free

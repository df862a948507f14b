# Gives a tensor the DLPack protocol; see docs/frontend/interchange.md.
"""What other libraries need to take a tensor of the device."""

from typing import Any

import torch
from torch.utils.dlpack import DLDeviceType


# LITERALINCLUDE START: EXPORTED
class Exported:
    """A tensor of the device, for the `from_dlpack` function of any library."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack_device__(self) -> tuple[DLDeviceType, int]:
        return DLDeviceType.kDLExtDev, self.tensor.device.index

    def __dlpack__(self, **options: Any) -> object:
        return self.tensor.__dlpack__(**options)


# LITERALINCLUDE END: EXPORTED

# The accelerator that DeepSpeed asks for; see docs/frontend/training-libraries.md.
from typing import Any

import torch
from deepspeed.accelerator.cpu_accelerator import CPU_Accelerator

openreg: Any = torch.openreg  # type: ignore[attr-defined]


# LITERALINCLUDE START: DEEPSPEED_ACCELERATOR
class DeviceAccelerator(CPU_Accelerator):  # (1)
    def __init__(self) -> None:
        super().__init__()
        self._name, self._communication_backend_name = "openreg", "occl"

    def device_name(self, device_index: int | None = None) -> str:
        return "openreg" if device_index is None else f"openreg:{device_index}"

    def current_device_name(self) -> str:
        return self.device_name(openreg.current_device())

    def is_synchronized_device(self) -> bool:
        return False  # (2)

    def on_accelerator(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == "openreg"

    def pin_memory(self, tensor: torch.Tensor, align_bytes: int = 1) -> torch.Tensor:
        return tensor.pin_memory()


for name in ("device", "set_device", "current_device", "device_count"):  # (3)
    setattr(DeviceAccelerator, name, staticmethod(getattr(openreg, name)))
# LITERALINCLUDE END: DEEPSPEED_ACCELERATOR
for name in ("synchronize", "stream", "current_stream", "default_stream"):
    setattr(DeviceAccelerator, name, staticmethod(getattr(openreg, name)))
for name in ("is_available", "memory_allocated", "max_memory_allocated"):
    setattr(DeviceAccelerator, name, staticmethod(getattr(openreg, name)))
for name in ("Stream", "Event"):
    setattr(DeviceAccelerator, name, getattr(openreg, name))

# What Lightning needs to train on the device; see docs/frontend/training-libraries.md.
from typing import Any

import torch
from lightning.pytorch.accelerators import Accelerator
from lightning.pytorch.strategies import SingleDeviceStrategy

NAME = "openreg"


# LITERALINCLUDE START: LIGHTNING_ACCELERATOR
class DeviceAccelerator(Accelerator):
    @staticmethod
    def name() -> str:
        return NAME

    @staticmethod
    def is_available() -> bool:
        return torch.accelerator.is_available()

    @staticmethod
    def auto_device_count() -> int:
        return torch.accelerator.device_count()

    @staticmethod
    def parse_devices(devices: Any) -> Any:
        return devices

    @staticmethod
    def get_parallel_devices(devices: int) -> list[torch.device]:
        return [torch.device(NAME, index) for index in range(devices)]

    # LITERALINCLUDE END: LIGHTNING_ACCELERATOR

    # LITERALINCLUDE START: LIGHTNING_SETUP
    def setup_device(self, device: torch.device) -> None:
        if device.type != NAME:  # (1)
            raise ValueError(
                f"{NAME}: Lightning would train on {device}: pass "
                "Trainer(strategy=single_device()), and no accelerator="
            )
        torch.accelerator.set_device_index(device.index)

    def teardown(self) -> None:
        torch.accelerator.synchronize()

    def get_device_stats(self, device: Any) -> dict[str, Any]:
        return dict(torch.accelerator.memory_stats(device))


def single_device(index: int = 0) -> SingleDeviceStrategy:
    device = torch.device(NAME, index)
    return SingleDeviceStrategy(device, accelerator=DeviceAccelerator())  # (2)
    # LITERALINCLUDE END: LIGHTNING_SETUP

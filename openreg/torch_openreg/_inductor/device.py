# What Dynamo and Inductor ask about the device; see docs/modules/compile-wrapper.md.
"""The device module once more, under the names that the compiler wants."""

from typing import Any

import torch
from torch._dynamo.device_interface import DeviceInterface
from torch._inductor.codegen.common import DeviceOpOverrides

from torch_openreg import _C, openreg
from torch_openreg.openreg import streams
from torch_openreg.openreg._utils import _get_device_index


class OpenRegInterface(DeviceInterface):
    """Devices, streams and events, as compiled code and its tuning use them."""

    device = openreg.device
    Event = openreg.Event
    Stream = openreg.Stream

    current_device = staticmethod(openreg.current_device)
    set_device = staticmethod(openreg.set_device)  # type: ignore[assignment]
    device_count = staticmethod(openreg.device_count)
    exchange_device = staticmethod(_C._exchange_device)
    maybe_exchange_device = staticmethod(_C._exchange_device)
    is_available = staticmethod(openreg.is_available)
    stream = staticmethod(openreg.stream)
    current_stream = staticmethod(openreg.current_stream)
    set_stream = staticmethod(openreg.set_stream)
    _set_stream_by_id = staticmethod(streams._set_stream_by_id)
    synchronize = staticmethod(openreg.synchronize)
    memory_allocated = staticmethod(openreg.memory_allocated)

    @staticmethod
    def is_bf16_supported(including_emulation: bool = False) -> bool:
        """Return whether kernels take bfloat16: all do, with float32 inside."""
        return openreg.is_bf16_supported()

    @staticmethod
    def get_raw_stream(device_idx: int) -> int:
        """Return the driver's handle of the current stream."""
        return openreg.current_stream(device_idx).native_handle

    @staticmethod
    def get_compute_capability(device: torch.types.Device = None) -> int:
        """Return the version of the architecture, for tuned choices."""
        properties = openreg.get_device_properties(device)
        return properties.major * 10 + properties.minor

    class Worker(DeviceInterface.Worker):
        """The questions of compile workers: processes that must not use the device.

        They are forks of a process that asked first, so they find the answers.
        """

        _device = 0
        _properties: tuple[openreg.DeviceProperties, ...] = ()

        @classmethod
        def set_device(cls, device: int) -> None:
            """Choose the device of later questions."""
            cls._device = device

        @classmethod
        def current_device(cls) -> int:
            """Return that device."""
            return cls._device

        @classmethod
        def get_device_properties(cls, device: torch.types.Device = None) -> Any:
            """Return what the driver reports of a device."""
            if not cls._properties:
                count = openreg.device_count()
                each = (openreg.get_device_properties(i) for i in range(count))
                cls._properties = tuple(each)
            index = cls._device if device is None else _get_device_index(device)
            return cls._properties[index]


# LITERALINCLUDE START: DEVICE_OP_OVERRIDES
class OpenRegDeviceOpOverrides(DeviceOpOverrides):
    """Pieces of the Python that Inductor generates."""

    def synchronize(self) -> str:
        """Return a line that waits for the device."""
        return "torch.openreg.synchronize()"


# LITERALINCLUDE END: DEVICE_OP_OVERRIDES

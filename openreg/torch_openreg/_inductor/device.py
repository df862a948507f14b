# The device interface of Dynamo and Inductor; see docs/modules/compile-wrapper.md.
"""The functions of the device module under the names that the compiler calls."""

from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.device_interface import DeviceInterface
from torch._inductor.codegen.common import DeviceOpOverrides

from torch_openreg import _C, openreg
from torch_openreg.openreg import streams
from torch_openreg.openreg._utils import _get_device_index

from .triton import why_no_triton


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

    @staticmethod
    def is_triton_capable(device: torch.types.Device = None) -> bool:
        """Return whether Triton is installed with a backend for this device."""
        return why_no_triton() is None

    @staticmethod
    def raise_if_triton_unavailable(device: torch.types.Device = None) -> None:
        """Raise if Triton is missing; Inductor calls this before it uses Triton."""
        if words := why_no_triton():
            raise RuntimeError(words)

    class Worker(DeviceInterface.Worker):
        """Device queries of compile workers: processes that must not use the device.

        They are forked from a process that has cached the results of the queries.
        """

        _device = 0
        _properties: tuple[openreg.DeviceProperties, ...] = ()

        @classmethod
        def set_device(cls, device: int) -> None:
            """Choose the device of later queries."""
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

    def import_get_raw_stream_as(self, name: str) -> str:
        """Return a line that imports what names a stream for a Triton kernel."""
        return f"from triton_openreg.launcher import raw_stream as {name}"

    def set_device(self, device_idx: int) -> str:
        """Return a line that makes a device current."""
        return f"torch.openreg.set_device({device_idx})"

    def device_guard(self, device_idx: int) -> str:
        """Return a context in which a device is current."""
        return f"torch.openreg.device({device_idx})"


# LITERALINCLUDE END: DEVICE_OP_OVERRIDES


# LITERALINCLUDE START: INDUCTOR_BENCHMARK
def benchmark(_: Any, work: Callable[[], Any], **options: Any) -> float:
    """Return the milliseconds of a candidate of autotuning: the fastest of five runs.

    Inductor would call a function of CUDA for a device without its own function.
    """
    work()
    times = []
    for _ in range(5):
        start, end = (openreg.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return min(times)


# LITERALINCLUDE END: INDUCTOR_BENCHMARK

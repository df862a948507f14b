# A temporary driver; see docs/modules/triton-launch.md.
"""Devices, streams and the launch, as Triton asks for them."""

import ctypes
import functools
import pathlib
import struct
import tempfile
from collections.abc import Callable
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

FORMATS = {
    "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B",
    "u16": "H", "u32": "I", "u64": "Q", "fp16": "e", "fp32": "f", "f32": "f", "fp64": "d",
}  # fmt: skip


@functools.cache
def driver_library() -> str:
    import torch_openreg

    return str(pathlib.Path(torch_openreg.__file__).parent / "lib" / "libopenreg.so")


@functools.cache
def native() -> tuple[Any, Any, Any]:
    """The driver's launch, and malloc and free for arguments."""
    launch = ctypes.CDLL(driver_library()).orLaunchKernel
    launch.argtypes = [ctypes.c_void_p] * 5
    c = ctypes.CDLL(None)
    c.malloc.restype = ctypes.c_void_p
    c.malloc.argtypes = [ctypes.c_size_t]
    return launch, c.malloc, ctypes.cast(c.free, ctypes.c_void_p)


class OpenRegUtils:
    """Properties of devices, and how a kernel gets there."""

    loaded: list[Any] = []  # never unloaded: a graph of the driver may hold a kernel

    @staticmethod
    def get_device_properties(device: int) -> dict[str, int]:
        return {"max_shared_mem": 1 << 20, "multiprocessor_count": 1, "warpSize": 1}

    @classmethod
    def load_binary(
        cls, name: str, binary: bytes, shared: int, device: int
    ) -> tuple[Any, ...]:
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(binary)
            file.flush()
            library = ctypes.CDLL(file.name)
        literal = ctypes.create_string_buffer(name.encode())
        cls.loaded.append((library, literal))
        function = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        return library, (ctypes.addressof(literal), function), 0, 0, 1024


def pack_pointer(value: Any) -> bytes:
    if not hasattr(value, "data_ptr"):
        return struct.pack("q", value or 0)
    if hasattr(value, "device") and value.device.type != "openreg":
        raise ValueError(f"a kernel cannot reach a tensor on {value.device}")
    return struct.pack("q", value.data_ptr())


class OpenRegLauncher:
    """Packs the arguments of one kernel, eight bytes each, and puts it on a stream."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self.packers: list[Callable[[Any], bytes] | None] = []
        for type_ in src.signature.values():
            if type_ == "constexpr":
                self.packers.append(None)
            elif type_[0] == "*":
                self.packers.append(pack_pointer)
            elif type_ == "bf16":
                raise NotImplementedError("a number of type bf16")
            else:
                form = f"{FORMATS[type_]}0q"  # padded
                self.packers.append(functools.partial(struct.pack, form))

    def __call__(self, x: int, y: int, z: int, stream: int, function: Any, metadata: Any,
                 launch_metadata: Any, enter: Any, leave: Any, *args: Any) -> None:  # fmt: skip
        if x * y * z == 0:
            return
        if enter is not None:
            enter(launch_metadata)
        packed = struct.pack("qqq", x, y, z)
        for pack, value in zip(self.packers, args, strict=True):
            if pack is not None:
                packed += pack(value)
        launch, malloc, free = native()
        name, code = function
        memory = malloc(len(packed))
        ctypes.memmove(memory, packed, len(packed))
        if error := launch(name, code, memory, free, stream):
            raise RuntimeError(f"orLaunchKernel: error {error}")
        if leave is not None:
            leave(launch_metadata)


class OpenRegDriver(DriverBase):
    def __init__(self) -> None:
        import torch

        self.utils = OpenRegUtils()
        self.launcher_cls = OpenRegLauncher
        self.get_current_device = torch.openreg.current_device
        self.set_current_device = torch.openreg.set_device

    def get_current_stream(self, device: int) -> int:
        import torch

        return torch.openreg.current_stream(device).native_handle

    @staticmethod
    def is_active() -> bool:
        import torch

        return hasattr(torch, "openreg") and torch.openreg.is_available()

    def get_current_target(self) -> GPUTarget:
        import torch

        device = torch.openreg.get_device_properties()
        return GPUTarget("openreg", f"{device.major}.{device.minor}", 1)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("openreg", self.get_current_device())

    def get_device_interface(self) -> Any:
        import torch

        return torch.openreg

    def map_python_to_cpp_type(self, type_: str) -> str:
        raise NotImplementedError(type_)

    def get_benchmarker(self) -> Any:
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1 << 18, dtype=torch.int, device="openreg")

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

# Devices, streams and kernels, as Triton requests them; see
# docs/modules/triton-launch.md.
"""What Triton's runtime calls. Of these members, only five are abstract in Triton."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

# Bytes of the blocks that a kernel keeps: they are on the stack of the thread that runs
# it, which has 8 MiB by default.
MAX_SCRATCH = 4 << 20
WARP_SIZE = 1  # a program is one thread
MAX_THREADS = 1024  # num_warps has no effect: any number that a GPU allows is accepted


class OpenRegUtils:
    """Properties of devices, and how compiled code gets there."""

    @staticmethod
    @functools.cache
    def get_device_properties(device: int) -> dict[str, Any]:
        """Return what Triton and kernels with persistent programs look up."""
        from torch_openreg import openreg

        found = openreg.get_device_properties(device)
        return {
            "max_shared_mem": MAX_SCRATCH,
            "multiprocessor_count": found.multi_processor_count,
            "warpSize": WARP_SIZE,
            "arch": f"{found.major}.{found.minor}",
        }

    # LITERALINCLUDE START: DRIVER_LOAD
    @staticmethod
    def load_binary(
        name: str, binary: bytes, shared: int, device: int
    ) -> tuple[Any, Any, int, int, int]:
        """Load a kernel: module, function, registers, spills, most threads.

        The file has a new name each time, since ``dlopen`` returns what it has loaded
        under a name before.
        """
        from .launcher import native

        with tempfile.NamedTemporaryFile(prefix=f"{name[:64]}-", suffix=".so") as file:
            Path(file.name).write_bytes(binary)
            kernel = native().load(file.name, name)
        return kernel, kernel, 0, 0, MAX_THREADS

    # LITERALINCLUDE END: DRIVER_LOAD

    @staticmethod
    def unload_module(module: Any) -> None:
        """Do nothing: a graph of the device may still launch the kernel.

        Triton 3.8 and later call this when a compiled kernel is freed.
        """

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """Do nothing: ``device_print`` writes to the process's own output."""


class OpenRegDriver(DriverBase):
    """The active driver of a process whose accelerator is openreg."""

    def __init__(self) -> None:
        from torch_openreg import openreg

        from . import launcher

        # LITERALINCLUDE START: DRIVER_MEMBERS
        self.utils = OpenRegUtils()
        self.launcher_cls = launcher.OpenRegLauncher
        self.get_current_device = openreg.current_device
        self.set_current_device = openreg.set_device
        self.get_current_stream = launcher.raw_stream
        # LITERALINCLUDE END: DRIVER_MEMBERS

    @classmethod
    def is_active(cls) -> bool:
        """Return whether there is a device; Triton calls this once for each driver."""
        from torch_openreg import openreg

        return openreg.is_available()

    def get_current_target(self) -> GPUTarget:
        """Return what to compile for: the current device."""
        arch = self.utils.get_device_properties(self.get_current_device())["arch"]
        return GPUTarget("openreg", arch, WARP_SIZE)

    def get_active_torch_device(self) -> Any:
        """Return the current device of torch."""
        import torch

        return torch.device("openreg", self.get_current_device())

    def get_device_interface(self) -> Any:
        """Return the module with ``synchronize`` and ``Event``, for timing."""
        from torch_openreg import openreg

        return openreg

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Return the C type of an argument, for programs that launch without Python."""
        from .launcher import LETTERS

        if ty.startswith("*"):
            return "void*"
        names = {"?": "int8_t", "e": "uint16_t", "g": "uint16_t"}
        names |= {"f": "float", "d": "double"}
        letter = LETTERS[ty]
        sign = "u" if ty.startswith("u") else ""
        return names.get(letter) or f"{sign}int{ty.lstrip('iu')}_t"

    def get_benchmarker(self) -> Any:
        """Return Triton's own timing, which uses the members around this one."""
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Return memory whose writing empties the caches between two timings."""
        import torch

        return torch.empty(1 << 20, dtype=torch.int8, device="openreg")

    def clear_cache(self, cache: Any) -> None:
        """Write it."""
        cache.zero_()

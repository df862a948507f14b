# From a call of a Triton kernel to the driver's; see docs/modules/triton-launch.md.
"""One launcher a kernel: it has the types of the arguments, and fills their slots.

``launcher.c`` does what every call repeats. It is compiled on first use, in Triton's
cache, as the launchers of Triton's own backends are: a program that compiles kernels
has a compiler, and the package stays free of code for one Python and one machine.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from triton.runtime.build import compile_module_from_src

LETTERS = {  # of launcher.c
    **{"constexpr": "x", "i1": "?", "u1": "?"},
    **{"i8": "b", "i16": "h", "i32": "i", "i64": "q"},
    **{"u8": "B", "u16": "H", "u32": "I", "u64": "Q"},
    **{"fp16": "e", "bf16": "g", "fp32": "f", "f32": "f", "fp64": "d"},
}
DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([^\]]*)\]")


# LITERALINCLUDE START: LAUNCHER_NATIVE
@functools.cache
def native() -> Any:
    """Return the compiled half."""
    from torch_openreg import utils

    return compile_module_from_src(
        src=Path(__file__).with_suffix(".c").read_text(),
        name="openreg_launcher",
        include_dirs=utils.include_paths(),
        library_dirs=utils.library_paths(),
        libraries=["libopenreg.so"],  # torch_openreg has loaded it
    )


# LITERALINCLUDE END: LAUNCHER_NATIVE


def letters_of(type_: Any) -> Iterator[str]:
    """Yield the letters of one argument: a tuple and a descriptor have several."""
    if isinstance(type_, tuple):
        for each in type_:
            yield from letters_of(each)
    elif type_.startswith("*"):
        yield "P"
    elif found := DESCRIPTOR.match(type_):
        dimensions = found[2].count(",") + 1
        yield from "P" + "q" * 2 * dimensions + "??"
        yield from "i" * dimensions + "q" * dimensions
    elif type_ in LETTERS:
        yield LETTERS[type_]
    else:
        raise TypeError(
            f"a Triton kernel for openreg cannot take an argument of type {type_}"
        )


def flatten(type_: Any, value: Any) -> Iterator[Any]:
    """Yield the values that belong to those letters.

    Triton passes the shape and the strides of a descriptor twice: once as parts of the
    descriptor, and once for the kernel's own use.
    """
    if isinstance(type_, tuple):
        for each, part in zip(type_, value, strict=True):
            yield from flatten(each, part)
    elif type_.startswith("tensordesc"):
        yield value.base
        yield from (*value.shape, *value.strides)
        yield from (value.padding == "nan", getattr(value, "round_f32_to_tf32", False))
        yield from (*value.shape, *value.strides)
    else:
        yield value


class OpenRegLauncher:
    """Launches one compiled kernel; Triton makes it, and calls it on each launch.

    Args:
        src: the kernel, with the types of its arguments.
        metadata: what the compiler found out about it.
    """

    def __init__(self, src: Any, metadata: Any) -> None:
        self.types = tuple(src.signature.values())
        letters = ["".join(letters_of(type_)) for type_ in self.types]
        self.letters = "".join(letters).encode()
        pairs = zip(src.signature, letters, strict=True)
        self.names = tuple(str(name) for name, of in pairs for _ in of)
        self.flat = all(isinstance(t, str) for t in self.types) and all(
            len(of) == 1 for of in letters
        )
        self.launch = native().launch

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        enter: Any,
        leave: Any,
        *args: Any,
    ) -> None:
        """Enqueue the kernel on a stream, for a grid of x * y * z programs.

        Raises:
            ValueError: a tensor is where the device cannot reach it.
            torch.AcceleratorError: the driver did not take the launch.
        """
        if not self.flat:
            pairs = zip(self.types, args, strict=True)
            args = tuple(part for pair in pairs for part in flatten(*pair))
        # LITERALINCLUDE START: LAUNCHER_CALL
        if enter is not None:
            enter(launch_metadata)
        error = self.launch(function, self.letters, self.names, stream, x, y, z, args)
        if error:
            raise torch.AcceleratorError(f"openreg: {native().describe(error)}")
        if leave is not None:
            leave(launch_metadata)
        # LITERALINCLUDE END: LAUNCHER_CALL


# LITERALINCLUDE START: LAUNCHER_STREAM
def raw_stream(device: int) -> int:
    """Return the driver's handle of the current stream of a device.

    The default stream of every device has the handle 0, which means that of the current
    device, as with CUDA: a caller makes the device current before it launches.
    """
    stream: Any = torch.accelerator.current_stream(device)
    return stream.native_handle


# LITERALINCLUDE END: LAUNCHER_STREAM

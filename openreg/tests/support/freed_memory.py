# Overwrites device memory as soon as it is freed; see
# docs/operators/borrowed-kernels.md.
"""What another thread may do: take a freed block, and write there first."""

import contextlib
import ctypes
from collections.abc import Iterator

from custom_build import compile_with_c10


@contextlib.contextmanager
def overwritten() -> Iterator[None]:
    """For calls of this thread: each block is overwritten when it is freed.

    A launch whose kernel reads memory that was freed before it then reads 0xff.
    """
    library = ctypes.CDLL(str(compile_with_c10("overwrite_freed")))
    library.overwrite_freed_begin()
    try:
        yield
    finally:
        library.overwrite_freed_end()

# The headers and libraries of this package; see docs/operators/custom.md.
"""Paths for building custom operators against this package."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

# LITERALINCLUDE START: UTILS
# For CMake's find_package(torch_openreg), like torch.utils.cmake_prefix_path.
cmake_prefix_path = str(_PACKAGE / "share" / "cmake")


def include_paths() -> list[str]:
    """Return the folders of the headers, like torch.utils.cpp_extension."""
    return [str(_PACKAGE / "include")]


def library_paths() -> list[str]:
    """Return the folders of ``libtorch_openreg.so`` and of the driver."""
    return [str(_PACKAGE / "lib")]


# LITERALINCLUDE END: UTILS

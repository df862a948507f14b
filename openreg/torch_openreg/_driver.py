# Loads the driver from where it is installed; see docs/ship/packaging.md.
"""Loads the driver by its name, so that objects linked to it find it loaded."""

import ctypes
import os
from pathlib import Path

LIBRARY = "libopenreg.so"
PACKAGE = Path(__file__).parent


# VENDOR: where your driver is: in the wheel, on the system, or where a variable says
# LITERALINCLUDE START: DRIVER
def load(package: Path = PACKAGE) -> None:
    """Load the driver, before the objects that are linked to it.

    Args:
        package: the folder that may have the driver in ``lib``.

    Raises:
        ImportError: the driver is not there, or has another name.
    """
    chosen = os.environ.get("OPENREG_DRIVER")  # (1)
    if not chosen:
        inside = package / "lib" / LIBRARY
        chosen = str(inside) if inside.exists() else LIBRARY  # (2)
    try:
        ctypes.CDLL(chosen)
        ctypes.CDLL(LIBRARY, os.RTLD_NOLOAD)  # (3)
    except OSError as error:
        raise ImportError(
            f"torch_openreg found no driver: {error}. Install it, or set "
            f"OPENREG_DRIVER to the path of {LIBRARY}."
        ) from None


# LITERALINCLUDE END: DRIVER

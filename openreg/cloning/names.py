# Refuses names that no backend can have; see docs/ship/make-it-yours.md.
"""Without it, such a name fails only when the copy is compiled, imported or used."""

from __future__ import annotations

import os
import re


def check_driver(name: str) -> None:
    """Raise ValueError if no header and library can have this name."""
    if not re.fullmatch("[a-z][a-z0-9]*", name):
        raise ValueError(
            f"{name!r} cannot be the name of a driver. Use lower-case letters and "
            "digits, and a letter first."
        )


def check_device(name: str) -> None:
    """Raise ValueError if there cannot be a backend for a device of this name."""
    if not re.fullmatch("[a-z]+", name):
        raise ValueError(
            f"{name!r} cannot be the name of a device. Use lower-case letters only: "
            "torch.device accepts no digits, for example."
        )
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    try:
        import torch
    except ImportError as error:
        raise ValueError(f"{error}: run this in an environment with torch.") from None
    try:
        torch.device(name)
    except RuntimeError as error:
        if "device type at start of device string" not in str(error):
            raise ValueError(f"{error}. Choose another name.") from None
    else:
        raise ValueError(f"PyTorch has a device {name!r} already. Choose another name.")

# Rejects names that no backend can have; see docs/ship/make-it-yours.md.
"""Without it, such a name fails only when the copy is compiled, imported or used."""

from __future__ import annotations

import ctypes
import keyword
import os
import re
from importlib.util import find_spec

OTHER = "Choose another name."
# Upper-case letters and digits are left out: names of devices have none.
CPP_KEYWORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl concept
const consteval constexpr constinit continue decltype default delete do double else enum
explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not nullptr operator or private protected public register requires return
short signed sizeof static struct switch template this throw true try typedef typeid
typename union unsigned using virtual void volatile while xor
"""
# Macros of GCC, and namespaces that the sources use or define.
CPP_NAMES = {"linux", "unix", "at", "op", "py", "simulator", "std", "torch"}


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
    languages = {"Python": keyword.kwlist, "C++": CPP_KEYWORDS.split()}
    for language, reserved in languages.items():
        if name in reserved:
            raise ValueError(f"{name!r} is a keyword of {language}. {OTHER}")
    # A namespace cannot have the name of a function that a header of C declares.
    if name in CPP_NAMES or hasattr(ctypes.CDLL(None), name):
        raise ValueError(f"{name!r} has a meaning in C or C++ already. {OTHER}")
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    try:
        import torch
    except ImportError as error:
        raise ValueError(f"{error}: run this in an environment with torch.") from None
    try:
        torch.device(name)
    except RuntimeError as error:
        if "device type at start of device string" not in str(error):
            raise ValueError(f"{error}. {OTHER}") from None
    else:
        raise ValueError(f"PyTorch has a device {name!r} already. {OTHER}")
    for prefix in ("mps", "cuda"):  # torch compares no more when it loads a file
        if name.startswith(prefix):
            raise ValueError(
                f"{name!r} begins with {prefix!r}, so torch would load what was saved "
                f"on it for that device. {OTHER}"
            )
    # The device module becomes torch.<name>, and four classes get two attributes.
    if hasattr(torch, name) or find_spec(f"torch.{name}"):
        raise ValueError(f"PyTorch has torch.{name} already. {OTHER}")
    packed = torch.nn.utils.rnn.PackedSequence
    for owner in (torch.Tensor, torch.nn.Module, packed, torch.UntypedStorage):
        for made in (name, f"is_{name}"):
            if hasattr(owner, made):
                raise ValueError(f"{owner.__name__}.{made} exists already. {OTHER}")

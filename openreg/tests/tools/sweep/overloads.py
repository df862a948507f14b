# The operators of aten that the sweep calls by their schema; see docs/ship/sweep.md.
from fnmatch import fnmatch

import torch

LIBRARY = "the library of another device has it"
# Patterns of what is not called, and why.
LEFT_OUT = {}


def overloads() -> dict[str, torch._ops.OpOverload]:
    """Return each overload that takes arguments and has a kernel of the CPU."""
    found = {}
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.startswith("aten::"):
            found[name] = overload(name)
    return found


def overload(name: str) -> torch._ops.OpOverload:
    """Return an overload by its name, such as ``aten::add.out``."""
    operator, _, variant = name.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, operator), variant or "default")

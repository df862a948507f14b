# Which way each operator takes; see docs/reference/operator-coverage.md.
import re

import torch

ROUTES = ("native", "implicit", "explicit", "out form", "fallback", "unsupported")


def routes() -> dict[str, tuple[str, str]]:
    """Return, for each overload of ``aten``, its route and that of its autograd."""
    names = sorted(torch._C._dispatch_get_all_op_names())
    names = [name for name in names if name.startswith("aten::")]
    return {name: (route(name), autograd(name)) for name in names}


def route(name: str) -> str:
    """Return what a call without autograd reaches, one of ``ROUTES``."""
    kind = _kernel(name, "PrivateUse1")
    if kind == "kernel" and not _is_boxed_only(name):
        return "native"
    if kind == "math kernel":
        return "implicit"
    if kind == "default backend kernel":
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        if has(name, "CompositeExplicitAutogradNonFunctional"):
            return "out form"
        return "explicit"
    served = _kernel(name, "CPU") not in ("", "backend fallback")
    return "fallback" if served else "unsupported"


def autograd(name: str) -> str:
    """Return who differentiates: "torch", "ours", "its parts" or "nobody"."""
    kind = _kernel(name, "AutogradPrivateUse1")
    return {
        "autograd kernel": "torch",
        "kernel": "ours",
        "math kernel": "its parts",
    }.get(kind, "nobody")


def _kernel(name: str, key: str) -> str:
    """Return the kind of kernel that the dispatcher has computed for a key."""
    table = torch._C._dispatch_dump_table(name)
    found = re.search(rf"^{key}: .*\[(.*)\]$", table, re.MULTILINE)
    return found[1] if found else ""


def _is_boxed_only(name: str) -> bool:
    """Return whether the kernel is a fallback that was registered by name."""
    registrations = torch._C._dispatch_dump(name)
    return bool(re.search(r"^PrivateUse1: .*\[ boxed \]$", registrations, re.MULTILINE))

# Inductor's Triton code generator instead of C++ loops; see
# docs/modules/triton-inductor.md.
"""The switch between the two; what compiles Triton kernels is ``triton_openreg``."""

from typing import Any

from . import config

INSTALL = (
    "Install Triton and its backend for this device: pip install triton and "
    "openreg/triton_openreg of the repository of torch_openreg"
)


# LITERALINCLUDE START: WHY_NO_TRITON
def why_no_triton() -> str | None:
    """Return what keeps Triton from the device, and what to do; None if nothing."""
    try:
        from triton.backends import backends
    except ImportError as error:
        return f"Triton is missing: {error}. {INSTALL}"
    if "openreg" not in backends:
        return f"Triton has no backend for openreg, only {sorted(backends)}. {INSTALL}"
    return None


# LITERALINCLUDE END: WHY_NO_TRITON


# LITERALINCLUDE START: CHOOSE_SCHEDULING
def choose_scheduling(scheduler: Any) -> Any:
    """Return the code generator that ``config.backend`` names.

    Inductor calls this once for each graph.

    Raises:
        RuntimeError: it is Triton, which is not installed.
        ValueError: it is none of the two.
    """
    if config.backend == "loops":
        from .kernels import OpenRegScheduling

        return OpenRegScheduling(scheduler)
    if config.backend == "triton":
        from torch._inductor.codegen.triton import TritonScheduling

        if words := why_no_triton():
            raise RuntimeError(words)
        return TritonScheduling(scheduler)
    raise ValueError(
        "OPENREG_INDUCTOR, and backend of torch_openreg._inductor.config, is loops or "
        f"triton, not {config.backend!r}"
    )


# LITERALINCLUDE END: CHOOSE_SCHEDULING

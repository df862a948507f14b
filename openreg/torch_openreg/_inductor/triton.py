# Inductor's Triton code generator instead of C++ loops; see
# docs/modules/triton-inductor.md.
"""Switches between the two; ``triton_openreg`` compiles the Triton kernels."""

import functools
import logging

import torch._inductor.config
from torch._inductor.codegen.common import get_scheduling_for_device
from torch._inductor.codegen.triton import TritonScheduling
from torch._inductor.scheduler import BaseScheduling

from . import config
from .kernels import OpenRegScheduling

_log = logging.getLogger("torch_openreg")
INSTALL = (
    "Install Triton and its backend for this device: pip install triton and "
    "openreg/triton_openreg of the repository of torch_openreg"
)


# LITERALINCLUDE START: WHY_NO_TRITON
def why_no_triton() -> str | None:
    """Return why Triton cannot be used, and what to do; None if it can."""
    try:
        from triton.backends import backends
    except ImportError as error:
        return f"Triton is missing: {error}. {INSTALL}"
    if "openreg" not in backends:
        return f"Triton has no backend for openreg, only {sorted(backends)}. {INSTALL}"
    return None


# LITERALINCLUDE END: WHY_NO_TRITON


def choose_scheduling() -> type[BaseScheduling]:
    """Return the code generator that ``config.backend`` names.

    Raises:
        ImportError: it is Triton, which is not installed.
        ValueError: there is no code generator of this name.
    """
    # LITERALINCLUDE START: CHOOSE_SCHEDULING
    if config.backend == "loops":
        return OpenRegScheduling
    if config.backend != "triton":
        raise ValueError(
            "OPENREG_INDUCTOR, or torch_openreg._inductor.config.backend, must be "
            f"loops or triton, not {config.backend!r}"
        )
    if words := why_no_triton():
        raise ImportError(words)
    return TritonScheduling
    # LITERALINCLUDE END: CHOOSE_SCHEDULING


def check_registered() -> None:
    """Raise if the code generator differs from that of the cache key.

    Inductor takes a class, not a function that chooses a class, so a change of the
    setting has no effect before the next registration.

    Raises:
        RuntimeError: ``config.backend`` was changed, and ``register`` not called.
    """
    if get_scheduling_for_device("openreg") is not choose_scheduling():
        raise RuntimeError(
            f"torch_openreg._inductor.config.backend is now {config.backend!r}: call "
            "torch_openreg._inductor.register() after a change"
        )
    settings = torch._inductor.config
    if config.backend == "triton" and (
        settings.max_autotune or settings.max_autotune_gemm
    ):
        warn_of_max_autotune()


@functools.cache
def warn_of_max_autotune() -> None:
    """Warn once that matrix products are not tuned."""
    _log.warning(
        "max-autotune tunes fused kernels, and no matrix products: Inductor has Triton "
        "templates only for the devices in torch._inductor.utils.GPU_TYPES, so "
        "products are operators of the device"
    )

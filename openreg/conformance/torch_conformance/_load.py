# Imports torch and the backend under test; see docs/ship/conformance.md.
from __future__ import annotations

import importlib
import os

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"


class LoadError(RuntimeError):
    """The backend cannot be loaded before the forks."""


def import_torch() -> None:
    """Import torch without backends: each child loads them.

    What comparisons and optimizers import later is imported here, once for all.
    """
    before = os.environ.get(AUTOLOAD)
    os.environ[AUTOLOAD] = "0"
    try:
        torch = importlib.import_module("torch")
        torch.testing.assert_close(torch.ones(1), torch.ones(1))
        torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    finally:
        os.environ.pop(AUTOLOAD)
        if before is not None:
            os.environ[AUTOLOAD] = before


def load(module: str | None) -> None:
    """What ``import torch`` does: load all backends, or import one that is named."""
    import torch

    if module is not None:
        importlib.import_module(module)
    elif torch._is_device_backend_autoload_enabled():
        torch._import_device_backends()

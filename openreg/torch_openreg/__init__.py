# Loads the backend and registers it with torch; see docs/frontend/autoload.md.
"""PyTorch backend for OpenReg, a simulated accelerator.

``import torch`` loads this package by itself. After that, ``"openreg"`` is a device
like any other and ``torch.openreg`` is its module.
"""


# LITERALINCLUDE START: LOG_NAME
def _autoload() -> None:
    """Called by ``import torch``, which finds it through the entry point.

    There is little left to do: to call this function, torch has imported this module.
    It stands above ``import torch``, so that torch finds it as well when this module
    is imported first, and is only half executed at that moment.
    """
    from torch._logging._internal import register_log

    register_log("openreg", "torch_openreg")  # torch reads TORCH_LOGS after this


# LITERALINCLUDE END: LOG_NAME
from torch_openreg import _load  # noqa: E402, F401

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
# LITERALINCLUDE START: AUTOLOAD
import torch

from torch_openreg import _version_guard

_version_guard.check(torch.__version__)  # (1)

import torch_openreg._C  # (2)
import torch_openreg.openreg

torch.utils.rename_privateuse1_backend("openreg")  # (3)
torch._register_device_module("openreg", torch_openreg.openreg)  # (4)
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)  # (5)
torch_openreg.openreg.random._register_graphsafe()  # (6)
torch_openreg.openreg.reductions._register()  # (7)
# LITERALINCLUDE END: AUTOLOAD

# Loads the backend and registers it with torch; see docs/frontend/autoload.md.
"""PyTorch backend for OpenReg, a simulated accelerator.

``import torch`` loads this package by itself. After that, ``"openreg"`` is a device
like any other and ``torch.openreg`` is its module.
"""

import sys


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
# LITERALINCLUDE START: IS_DIAGNOSIS
def _is_diagnosis() -> bool:
    """Return whether Python was started with ``-m torch_openreg.diagnose``.

    That has to run where nothing can be loaded. ``sys.argv[0]`` is ``-m`` only while
    Python looks for the module to run, which imports this package first.
    """
    options = sys.orig_argv
    module = "torch_openreg.diagnose"
    return sys.argv[:1] == ["-m"] and options[options.index("-m") + 1 :][:1] == [module]


if not _is_diagnosis():
    from torch_openreg import _load  # noqa: F401
# LITERALINCLUDE END: IS_DIAGNOSIS

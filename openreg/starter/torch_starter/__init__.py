# Loads the backend and registers it with torch; see docs/start/first-backend.md.
"""PyTorch backend for the device ``starter``; ``import torch`` loads it by itself."""


# LITERALINCLUDE START: STARTER_PACKAGE
def _autoload() -> None:
    """Called by ``import torch``, through the entry point; the import did the work.

    It stands above ``import torch``: if a program imports this module first, torch
    looks for it while the module is only half executed.
    """


import torch  # noqa: E402

torch.utils.rename_privateuse1_backend("starter")

from torch_starter import starter  # noqa: E402  loads _C, which registers the rest

torch._register_device_module("starter", starter)
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
# LITERALINCLUDE END: STARTER_PACKAGE

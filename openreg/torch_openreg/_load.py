# Loads the C++ side and registers it with torch; see docs/frontend/autoload.md.
"""What ``import torch_openreg`` does, in order."""

# VENDOR: which optional parts your device has: drop the steps for the others
# LITERALINCLUDE START: AUTOLOAD
import torch

from torch_openreg import _driver, _version_guard

_version_guard.check(torch.__version__)  # (1)

torch.utils.rename_privateuse1_backend("openreg")  # (2)

_driver.load()  # (3)
import torch_openreg._C
import torch_openreg.openreg

torch._register_device_module("openreg", torch_openreg.openreg)  # (4)
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)  # (5)
torch_openreg.openreg.random._register_graphsafe()  # (6)
torch_openreg.openreg.reductions._register()  # (7)
torch_openreg.openreg._distributed._register()  # (8)
torch_openreg.openreg._sharding._register()  # (9)
# LITERALINCLUDE END: AUTOLOAD

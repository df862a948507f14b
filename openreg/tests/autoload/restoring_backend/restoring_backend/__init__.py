# The environment-variable pattern, repaired; see docs/frontend/autoload.md.
# LITERALINCLUDE START: RESTORING_PACKAGE
import os

_switch = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD")
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch

if _switch is None:  # here, not in the hook: torch does not call it while it is "0"
    del os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"]
else:
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = _switch

print("restoring_backend is loaded")  # a backend registers its device here


def _autoload():
    pass


# LITERALINCLUDE END: RESTORING_PACKAGE

# The environment-variable pattern, with its defect; see docs/frontend/autoload.md.
# LITERALINCLUDE START: ENV_PACKAGE
import os

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch

print("env_backend is loaded")  # a backend registers its device here


def _autoload():
    pass


# LITERALINCLUDE END: ENV_PACKAGE

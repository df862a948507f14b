# Loads the kernels of a custom operator; see docs/operators/custom.md.
from pathlib import Path

import torch

# LITERALINCLUDE START: SOFTCAP_LOAD
torch.ops.load_library(Path(__file__).with_name("libsoftcap.so"))
# LITERALINCLUDE END: SOFTCAP_LOAD

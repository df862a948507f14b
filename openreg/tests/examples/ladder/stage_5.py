# Stage 5: the hot operators have kernels of the device; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_5
hot = ["add.Tensor", "mm", "addmm", "relu", "sum.dim_IntList", "threshold_backward"]
for name in hot:
    if not torch._C._dispatch_has_kernel_for_dispatch_key(
        f"aten::{name}", "PrivateUse1"
    ):
        raise NotImplementedError(f"aten::{name} has no kernel of the device")
print("native")
# LITERALINCLUDE END: LADDER_STAGE_5

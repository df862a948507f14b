# Stage 5: the hot operators have kernels of the device; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_5
structured = ["add.out", "mm.out", "addmm.out", "sum.IntList_out"]
for name in [*structured, "threshold_backward.grad_input", "relu"]:
    if not torch._C._dispatch_has_kernel_for_dispatch_key(
        f"aten::{name}", "PrivateUse1"
    ):
        raise NotImplementedError(f"aten::{name} has no kernel of the device")
print("native")
# LITERALINCLUDE END: LADDER_STAGE_5

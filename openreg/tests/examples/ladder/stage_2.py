# Stage 2: tensors are made, copied and viewed; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_2
device = torch.accelerator.current_accelerator()
x = torch.arange(6.0).to(device).view(2, 3)
print(x.t()[1:].cpu().tolist(), x.device.index)
# LITERALINCLUDE END: LADDER_STAGE_2

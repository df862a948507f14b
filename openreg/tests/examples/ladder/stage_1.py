# Stage 1: devices can be counted and chosen; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_1
torch.accelerator.set_device_index(1)
print(torch.accelerator.device_count(), torch.accelerator.current_stream().device.index)
# LITERALINCLUDE END: LADDER_STAGE_1

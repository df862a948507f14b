# Stage 4: copies run on their own stream; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_4
device = torch.accelerator.current_accelerator()
side, host = torch.Stream(device), torch.ones(1000, pin_memory=True)
with side:
    x = host.to(device, non_blocking=True)
    copied = side.record_event()
torch.accelerator.current_stream().wait_event(copied)
print(x.cpu().sum().item())
# LITERALINCLUDE END: LADDER_STAGE_4

# Stage 7: its own random numbers, autocast; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_7
device = torch.accelerator.current_accelerator()
first, second = (torch.Generator(device).manual_seed(1) for _ in range(2))
x = torch.rand(4, 4, device=device, generator=first)
print(torch.equal(x, torch.rand(4, 4, device=device, generator=second)))
with torch.autocast(device.type, torch.bfloat16):
    print((x @ x).dtype)
# LITERALINCLUDE END: LADDER_STAGE_7

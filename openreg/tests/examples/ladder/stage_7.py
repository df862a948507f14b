# Stage 7: its own random numbers, autocast, files; see docs/start/ladder.md.
import io

import torch

# LITERALINCLUDE START: LADDER_STAGE_7
device = torch.accelerator.current_accelerator()
first, second = (torch.Generator(device).manual_seed(1) for _ in range(2))
x = torch.rand(4, 4, device=device, generator=first)
print(torch.equal(x, torch.rand(4, 4, device=device, generator=second)))
with torch.autocast(device.type, torch.bfloat16):
    print((x @ x).dtype)
torch.save(x, file := io.BytesIO())
file.seek(0)
print(torch.equal(torch.load(file), x))
# LITERALINCLUDE END: LADDER_STAGE_7

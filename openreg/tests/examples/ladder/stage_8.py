# Stage 8: work is captured once and replayed; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_8
device = torch.accelerator.current_accelerator()
x = torch.ones(4, device=device)
graph = torch.accelerator.Graph()
with torch.Stream(device), graph:
    y = x * 2
x.fill_(3)
graph.replay()
torch.accelerator.synchronize()
print(y.tolist())
# LITERALINCLUDE END: LADDER_STAGE_8

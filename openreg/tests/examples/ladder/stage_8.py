# Stage 8: work is captured, replayed and traced; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_8
device = torch.accelerator.current_accelerator()
x = torch.ones(4, device=device)
graph = torch.accelerator.Graph()
with torch.Stream(device), graph:
    y = x * 2
with torch.profiler.profile() as profile:
    x.fill_(3)
    graph.replay()
    torch.accelerator.synchronize()
where = {event.device_type.name for event in profile.events()}
print(y.tolist(), device.type.upper() in where)
# LITERALINCLUDE END: LADDER_STAGE_8

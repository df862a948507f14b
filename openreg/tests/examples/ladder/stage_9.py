# Stage 9: ranks reduce their tensors, and Inductor compiles; see docs/start/ladder.md.
import torch
import torch.distributed as dist

# LITERALINCLUDE START: LADDER_STAGE_9
device = torch.accelerator.current_accelerator()
store = dist.HashStore()
dist.init_process_group(
    device_id=torch.device(device.type, 0), store=store, rank=0, world_size=1
)
x = torch.ones(3, device=device)
dist.all_reduce(x)
dist.destroy_process_group()
print(x.tolist())
print(torch.compile(lambda x: x * 2 + 1)(x).tolist())
# LITERALINCLUDE END: LADDER_STAGE_9

# Trains a model of which each process has a part; see docs/modules/sharding.md.
# LITERALINCLUDE START: SHARDED_TRAIN
import torch
import torch.distributed as dist
from llama import Llama, loss_of, sentences, shard
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("occl")
mesh = init_device_mesh("openreg", (dist.get_world_size(),))  # (1)
torch.manual_seed(0)
model = shard(Llama().to("openreg"), mesh)  # (2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)  # (3)
for step in range(3):
    words, target = (
        part.to("openreg").chunk(mesh.size())[mesh.get_local_rank()]  # (4)
        for part in sentences(8, step)
    )
    optimizer.zero_grad()
    loss = loss_of(model(words), target)
    loss.backward()
    optimizer.step()
    dist.all_reduce(loss.detach(), dist.ReduceOp.AVG)
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}")
dist.destroy_process_group()
# LITERALINCLUDE END: SHARDED_TRAIN

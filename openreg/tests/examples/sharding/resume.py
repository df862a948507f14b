# Trains from the last checkpoint to a step, and saves; see docs/modules/checkpoint.md.
import sys
from pathlib import Path

import checkpoint
import torch
import torch.distributed as dist
from llama import Llama, loss_of, sentences, shard
from torch.distributed.device_mesh import init_device_mesh

# LITERALINCLUDE START: CHECKPOINT_RESUME
torch.manual_seed(0)
model, rank, size = Llama().to("openreg"), 0, 1
if dist.is_torchelastic_launched():
    dist.init_process_group("cpu:gloo,openreg:occl")  # (1)
    rank, size = dist.get_rank(), dist.get_world_size()
    shard(model, init_device_mesh("openreg", (size,)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
begin, end = 0, int(sys.argv[1])
if found := checkpoint.last(Path()):
    checkpoint.load(model, optimizer, found)
    begin = int(found.name[len("step-") :])
for step in range(begin, end):
    words, target = (x.to("openreg").chunk(size)[rank] for x in sentences(8, step))
    optimizer.zero_grad()
    loss = loss_of(model(words), target)
    loss.backward()
    optimizer.step()
    if size > 1:
        dist.all_reduce(loss.detach(), dist.ReduceOp.AVG)
    if rank == 0:
        print(f"step {step}: loss {loss.item():.4f}")
checkpoint.save(model, optimizer, Path(f"step-{end}"))
# LITERALINCLUDE END: CHECKPOINT_RESUME

# Training with one process for each device; see docs/modules/distributed-groups.md.
"""Each process has a device and a share of the batch; all have the same weights."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

# LITERALINCLUDE START: TRAIN
index = int(os.environ["LOCAL_RANK"]) % torch.openreg.device_count()  # (1)
device = torch.device("openreg", index)
torch.openreg.set_device(device)
dist.init_process_group(device_id=device)  # (2)

torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randn(8, 1)
model = DistributedDataParallel(torch.nn.Linear(4, 1).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
share = slice(dist.get_rank(), None, dist.get_world_size())  # (3)
for _ in range(10):
    loss = torch.nn.functional.mse_loss(model(x[share].to(device)), y[share].to(device))
    optimizer.zero_grad()
    loss.backward()  # (4)
    optimizer.step()

mine = {"device": str(device), "weight": round(model.module.weight.sum().item(), 4)}
everyone = [None] * dist.get_world_size()
dist.all_gather_object(everyone, mine)  # (5)
if dist.get_rank() == 0:
    print(*everyone, sep="\n")
dist.destroy_process_group()
# LITERALINCLUDE END: TRAIN

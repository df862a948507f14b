# A collective with torchrun; see docs/modules/distributed.md.
"""Each process adds its number, and all have the sum."""

import torch
import torch.distributed as dist

# LITERALINCLUDE START: SUM
dist.init_process_group(device_id=torch.device("openreg", 0))  # (1)
x = torch.full((2,), dist.get_rank() + 1.0, device="openreg")
work = dist.all_reduce(x, async_op=True)  # (2)
work.wait()  # (3)
if dist.get_rank() == 0:
    print(dist.get_backend(), x * 10)  # (4)
dist.destroy_process_group()
# LITERALINCLUDE END: SUM

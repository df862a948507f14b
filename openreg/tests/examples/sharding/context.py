# Attention of a sequence that processes share; see docs/modules/sharding-attention.md.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import context_parallel_unshard

LENGTH = 256


def attend(query, key, value):
    leaves = [each.detach().requires_grad_() for each in (query, key, value)]
    out = F.scaled_dot_product_attention(*leaves, is_causal=True)
    out.square().sum().backward()
    return [out.detach(), *(leaf.grad for leaf in leaves)]


# LITERALINCLUDE START: CONTEXT_PARALLEL
dist.init_process_group("occl")
mesh = init_device_mesh("openreg", (dist.get_world_size(),))
torch.manual_seed(0)  # each process makes the same whole sequence
whole = [torch.randn(2, 4, LENGTH, 8) for _ in range(3)]
parts = [each.to("openreg") for each in whole]
with context_parallel(mesh, buffers=parts, buffer_seq_dims=[2] * 3):
    own = parts[0].shape[2]
    results = attend(*parts)
    results = context_parallel_unshard(mesh, results, [2] * 4)
# LITERALINCLUDE END: CONTEXT_PARALLEL
pairs = zip(results, attend(*whole), strict=True)
equal = all(torch.allclose(one.cpu(), other, atol=1e-5) for one, other in pairs)
found = [None] * dist.get_world_size()
dist.all_gather_object(found, (own, equal))
if dist.get_rank() == 0:
    print(f"positions of {LENGTH}, and whether all values are equal: {found}")
dist.destroy_process_group()

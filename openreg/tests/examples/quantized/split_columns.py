# A quantized layer in parts, one for each rank; see docs/modules/quantized-weights.md.
import torch
from int8_weight import Int8Weight
from torch.distributed._functional_collectives import all_gather_tensor


# LITERALINCLUDE START: SPLIT_COLUMNS
def split_columns(layer, group):
    """Keep the part of this rank, and gather the parts of a result."""
    whole, rank, size = layer.weight, group.rank(), group.size()
    codes, scales, bias = (
        part.detach().chunk(size)[rank].clone()
        for part in (whole.codes, whole.scales, layer.bias)
    )
    part = Int8Weight(codes, scales, whole.dynamic)
    layer.weight = torch.nn.Parameter(part, requires_grad=False)
    layer.bias = torch.nn.Parameter(bias)
    layer.register_forward_hook(lambda _, x, y: all_gather_tensor(y, -1, group))
    return layer


# LITERALINCLUDE END: SPLIT_COLUMNS

# A weight of int8 that FSDP2 splits by its rows; see docs/modules/four-bits.md.
import torch
from int8_weight import Int8Weight

aten = torch.ops.aten


# LITERALINCLUDE START: INT8_SHARDED
class ShardedInt8Weight(Int8Weight):
    @classmethod
    def __torch_dispatch__(cls, op, types, args, kwargs=None):
        x, *rest = args
        if op is aten.split.Tensor:  # (1)
            parts = zip(op(x.codes, *rest), op(x.scales, *rest), strict=True)
            return [cls(codes, scales, x.dynamic) for codes, scales in parts]
        if op is aten.new_zeros.default:  # (2)
            rows, columns = rest[0]
            codes, scales = x.codes.new_zeros(rows, columns), x.scales.new_zeros(rows)
            return cls(codes, scales, x.dynamic)
        if op is aten.slice.Tensor:
            return cls(op(x.codes, *rest), op(x.scales, *rest), x.dynamic)
        if op in (aten.view.default, aten.as_strided.default):  # (3)
            return cls(x.codes, x.scales, x.dynamic)
        return super().__torch_dispatch__(op, types, args, kwargs)

    def fsdp_pre_all_gather(self, mesh):
        return (self.codes, self.scales), self.dynamic  # (4)

    def fsdp_post_all_gather(self, parts, dynamic, param_dtype, *, out=None):
        return None if out is not None else (type(self)(*parts, dynamic), parts)
        # LITERALINCLUDE END: INT8_SHARDED

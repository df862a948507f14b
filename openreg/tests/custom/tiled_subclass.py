# Tiles of 16 x 16 as a subclass of Tensor; see docs/runtime/custom-tensor-subclass.md.
import torch
from torch.utils._pytree import tree_map_only

EDGE = 16
aten = torch.ops.aten


# LITERALINCLUDE START: SUBCLASS
class TiledTensor(torch.Tensor):
    @staticmethod
    def __new__(cls, tiles, size):
        return cls._make_wrapper_subclass(  # (1)
            cls, size, dtype=tiles.dtype, device=tiles.device
        )

    def __init__(self, tiles, size):
        self.tiles = tiles  # (tiles down, tiles across, 16, 16)

    @classmethod
    def pack(cls, x):
        rows, columns = x.shape
        padded = torch.nn.functional.pad(x, (0, -columns % EDGE, 0, -rows % EDGE))
        down, across = padded.shape[0] // EDGE, padded.shape[1] // EDGE
        grid = padded.view(down, EDGE, across, EDGE).transpose(1, 2)
        return cls(grid.contiguous(), x.shape)

    # LITERALINCLUDE END: SUBCLASS

    def __repr__(self):  # torch's own would take views
        return f"TiledTensor({self.unpack()})"

    def unpack(self):
        rows, columns = self.shape
        return self.tiles.transpose(1, 2).flatten(2).flatten(0, 1)[:rows, :columns]

    # LITERALINCLUDE START: SUBCLASS_DISPATCH
    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, op, types, args, kwargs=None):
        if op in (aten.clone.default, aten.detach.default, aten.relu.default):  # (1)
            return cls(op(args[0].tiles), args[0].shape)
        if op.is_view or op._schema.is_mutable:
            raise NotImplementedError(f"{op} of a TiledTensor: call unpack() before")
        args, kwargs = tree_map_only(cls, cls.unpack, (args, kwargs or {}))  # (2)
        return op(*args, **kwargs)

    def __tensor_flatten__(self):  # (3)
        return ["tiles"], self.shape

    @classmethod
    def __tensor_unflatten__(cls, inner, shape, outer_size, outer_stride):
        return cls(inner["tiles"], outer_size)

    # LITERALINCLUDE END: SUBCLASS_DISPATCH

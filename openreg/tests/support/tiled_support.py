# Helpers of the tests of custom tensors; see docs/runtime/custom-tensor.md.
import io

import torch
from custom_build import compile_tiled


def load_tiled():
    torch.ops.load_library(compile_tiled())


def pack(x, **options):
    return torch.ops.tiled.pack(x.to("openreg"), **options)


def unpack(x):
    return torch.ops.tiled.unpack(x)


def tiles(x):
    return torch.ops.tiled.tiles(x)


def is_tiled(x):
    return torch._C._dispatch_keys(x).has(torch._C.DispatchKey.PrivateUse2)


def file_of(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def load(content, **options):
    return torch.load(io.BytesIO(content), **options)

"""What the tests of the kernels share: the device's results are the CPU's."""

import sys
from pathlib import Path

import torch
from torch.utils._pytree import tree_map_only

sys.path.append(str(Path(__file__).resolve().parents[1] / "driver"))
from testing import hold  # noqa: F401

DEVICE = torch.device("ocl")

FLOATING = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGRAL = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
ALL = [*FLOATING, *INTEGRAL, torch.bool]


def to_device(tensor):
    """A copy on the device with the strides of `tensor`, gaps and zeros included."""
    if tensor.dim() == 0 and tensor.numel() == 1:
        return tensor.to(DEVICE)
    span = tensor.as_strided((storage_span(tensor),), (1,))
    return span.to(DEVICE).as_strided(tensor.size(), tensor.stride())


def storage_span(tensor):
    """How many elements lie from the first one of `tensor` to the end of its last."""
    if tensor.numel() == 0:
        return 0
    steps = zip(tensor.size(), tensor.stride(), strict=True)
    return 1 + sum((size - 1) * stride for size, stride in steps)


def on_device(tree):
    """The same arguments with their tensors on the device."""
    return tree_map_only(torch.Tensor, to_device, tree)


def on_cpu(tree):
    """The same results with their tensors on the CPU."""
    return tree_map_only(torch.Tensor, lambda tensor: tensor.cpu(), tree)


def native(fn, *args, **kwargs):
    """What `fn` returns; fails if one of its operators falls back to the CPU."""
    torch.ocl.reset_fallback_counts()
    result = fn(*args, **kwargs)
    counts = dict(torch.ocl.fallback_counts())
    assert counts == {}, f"fell back to the CPU: {counts}"
    return result


def compare(fn, *args, exact=False, native_only=True, rtol=None, atol=None, **kwargs):
    """Calls `fn` with arguments on the CPU and on the device: the results, and the
    arguments afterwards, must be equal, and no operator may fall back."""
    device_args, device_kwargs = on_device(args), on_device(kwargs)
    expected = fn(*args, **kwargs)
    call = native if native_only else lambda f, *a, **k: f(*a, **k)
    result = call(fn, *device_args, **device_kwargs)
    tolerance = {"rtol": 0, "atol": 0} if exact else {"rtol": rtol, "atol": atol}
    for got, want in ((result, expected), (device_args, args)):
        torch.testing.assert_close(
            on_cpu(got), want, equal_nan=True, check_device=False, **tolerance
        )
    return result


def sample(shape, dtype, low=-3, high=3):
    """Numbers of a dtype, the same on each call after torch.manual_seed."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    if not dtype.is_floating_point:
        low = 0 if dtype == torch.uint8 else int(low)
        return torch.randint(low, int(high) + 1, shape).to(dtype)
    return (torch.rand(shape, dtype=torch.float64) * (high - low) + low).to(dtype)

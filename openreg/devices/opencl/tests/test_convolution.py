"""Convolutions of 1 to 3 dimensions and their gradients."""

import pytest
import torch
from support import compare, sample
from torch.nn import functional as F

CASES = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2, "groups": 2},
]
TRANSPOSED = [
    {},
    {"stride": 2, "padding": 1, "output_padding": 1},
    {"stride": 3, "dilation": 2, "groups": 2, "padding": 1},
]


def gradients(fn, *inputs):
    leaves = [x.detach().requires_grad_() for x in inputs]
    y = fn(*leaves)
    return y.detach(), *torch.autograd.grad(y, leaves, y.detach())


@pytest.mark.parametrize("options", CASES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients(dims, options):
    fn = getattr(F, f"conv{dims}d")
    groups = options.get("groups", 1)
    x = sample((2, 4, *(9, 8, 7)[:dims]), torch.float32)
    weight = sample((6, 4 // groups, *(3, 2, 3)[:dims]), torch.float32)
    bias = sample((6,), torch.float32)
    compare(
        lambda *args: gradients(lambda *leaves: fn(*leaves, **options), *args),
        *(x, weight, bias),
        rtol=1e-3,
        atol=1e-3,
    )


@pytest.mark.parametrize("options", TRANSPOSED)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_transposed(dims, options):
    fn = getattr(F, f"conv_transpose{dims}d")
    groups = options.get("groups", 1)
    x = sample((2, 4, *(5, 4, 3)[:dims]), torch.float32)
    weight = sample((4, 6 // groups, *(3, 2, 3)[:dims]), torch.float32)
    bias = sample((6,), torch.float32)
    compare(
        lambda *args: gradients(lambda *leaves: fn(*leaves, **options), *args),
        *(x, weight, bias),
        rtol=1e-3,
        atol=1e-3,
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_dtypes(dtype):
    x, weight = sample((3, 3, 12, 12), dtype), sample((40, 3, 3, 3), dtype)
    tolerance = {torch.float64: 1e-10, torch.float16: 3e-2}.get(dtype, 2e-1)
    compare(
        lambda x, w: gradients(lambda x, w: F.conv2d(x, w, padding=1), x, w),
        *(x, weight),
        rtol=tolerance,
        atol=tolerance,
    )


def test_integers_strides_and_depthwise():
    x, weight = sample((2, 8, 6, 6), torch.float32), sample((8, 1, 3, 3), torch.float32)
    compare(lambda x, w: F.conv2d(x, w, groups=8), x, weight, rtol=1e-4, atol=1e-4)
    last = x.contiguous(memory_format=torch.channels_last)
    compare(lambda x, w: F.conv2d(x, w, groups=8), last, weight, rtol=1e-4, atol=1e-4)
    compare(lambda x, w: F.conv2d(x, w, groups=8), x.long(), weight.long(), exact=True)

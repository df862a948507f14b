"""Maximum, average and adaptive average pooling, and their gradients."""

import pytest
import torch
from support import FLOATING, compare, sample
from torch.nn import functional as F

TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 5e-2, torch.float32: 1e-5}


def gradients(fn, x):
    x = x.detach().requires_grad_()
    y = fn(x)
    return y.detach(), *torch.autograd.grad(y, x, y.detach())


def check(fn, x):
    tolerance = TOLERANCE.get(x.dtype, 1e-10)
    compare(lambda x: gradients(fn, x), x, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATING)
def test_images(dtype):
    x = sample((2, 3, 9, 10), dtype)
    check(lambda x: F.max_pool2d(x, 3, 2, 1), x)
    check(lambda x: F.avg_pool2d(x, (3, 2), 2, 1), x)
    check(lambda x: F.adaptive_avg_pool2d(x, (4, 3)), x)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: F.max_pool2d(x, (2, 3), ceil_mode=True),
        lambda x: F.max_pool2d(x, 2, 1, dilation=3),
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        lambda x: F.avg_pool2d(x, 3, divisor_override=7),
        lambda x: F.adaptive_avg_pool2d(x, 1),
        lambda x: F.adaptive_avg_pool2d(x, (20, 3)),
        lambda x: F.max_pool2d(x[0], 2),
        lambda x: F.max_pool2d(x.permute(0, 1, 3, 2), 2),
        lambda x: F.max_pool2d(x.contiguous(memory_format=torch.channels_last), 2),
    ],
)
def test_windows_and_strides(fn):
    check(fn, sample((2, 3, 9, 10), torch.float32))


def test_lines_and_volumes():
    line, volume = (
        sample((2, 3, 20), torch.float32),
        sample((2, 3, 6, 7, 8), torch.float32),
    )
    check(lambda x: F.max_pool1d(x, 3, 2), line)
    check(lambda x: F.avg_pool1d(x, 3, 2, 1), line)
    check(lambda x: F.max_pool3d(x, 3, 2, 1), volume)
    check(lambda x: F.avg_pool3d(x, 3, 2, 1), volume)
    check(lambda x: F.adaptive_avg_pool3d(x, (2, 3, 4)), volume)


def test_places_and_nan():
    x = sample((1, 2, 6, 6), torch.float32).round()
    x[0, 0, 1, 1] = x[0, 1, 3, 2] = float("nan")
    compare(lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True), x, exact=True)

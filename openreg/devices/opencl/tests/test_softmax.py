"""Softmax and its logarithm, forward and backward."""

import pytest
import torch
from support import DEVICE, FLOATING, compare, sample

TOLERANCE = {torch.float16: 5e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5}


def gradients(fn, x, grad):
    x = x.detach().requires_grad_()
    y = fn(x)
    return y.detach(), *torch.autograd.grad(y, x, grad)


@pytest.mark.parametrize("fn", [torch.softmax, torch.log_softmax])
@pytest.mark.parametrize("dtype", FLOATING)
def test_every_dimension(dtype, fn):
    x, grad = sample((4, 70, 6), dtype), sample((4, 70, 6), dtype)
    tolerance = TOLERANCE.get(dtype, 1e-12)
    for dim in (0, 1, 2):
        compare(
            lambda x, grad, dim=dim: gradients(lambda x: fn(x, dim), x, grad),
            *(x, grad),
            rtol=tolerance,
            atol=tolerance,
        )


@pytest.mark.parametrize("fn", [torch.softmax, torch.log_softmax])
def test_long_rows_strides_and_infinities(fn):
    x = sample((3, 1000), torch.float32)
    x[0, 5] = float("-inf")
    x[1] = 1000.0
    x[2, 3] = float("nan")
    compare(lambda x: [fn(x, 1), fn(x.t(), 0), fn(x[:, ::7], 0), fn(x[0, 0], 0)], x)
    compare(lambda x: fn(x, 1), torch.empty(0, 5))
    compare(lambda x: fn(x, 1), torch.full((2, 80), float("-inf")))


def test_half_to_float_is_rejected():
    with pytest.raises(RuntimeError, match="half_to_float"):
        torch.ops.aten._softmax(torch.ones(2, device=DEVICE).half(), 0, True)

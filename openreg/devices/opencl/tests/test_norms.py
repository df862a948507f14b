"""Layer, group and batch normalization, forward and backward."""

import pytest
import torch
from support import FLOATING, compare, sample
from torch.nn import functional as F

TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 1e-1, torch.float32: 1e-4}


def tolerance(dtype):
    return {"rtol": TOLERANCE.get(dtype, 1e-10), "atol": TOLERANCE.get(dtype, 1e-10)}


def gradients(fn, grad, *inputs):
    leaves = [x.detach().requires_grad_() for x in inputs]
    y = fn(*leaves)
    return y.detach(), *torch.autograd.grad(y, leaves, grad)


@pytest.mark.parametrize("dtype", FLOATING)
def test_layer_norm(dtype):
    x, grad = sample((5, 3, 70), dtype), sample((5, 3, 70), dtype)
    weight, bias = sample((3, 70), dtype), sample((3, 70), dtype)

    def whole(grad, x, weight, bias):
        return gradients(
            lambda x, w, b: F.layer_norm(x, (3, 70), w, b), grad, x, weight, bias
        )

    compare(whole, grad, x, weight, bias, **tolerance(dtype))
    compare(
        lambda g, x: gradients(lambda x: F.layer_norm(x, (70,)), g, x),
        grad,
        x,
        **tolerance(dtype),
    )


def test_layer_norm_of_low_precision_with_float32_parameters():
    x, weight = sample((4, 70), torch.bfloat16), sample((70,), torch.float32)
    compare(lambda x, w: F.layer_norm(x, (70,), w, w), x, weight, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("dtype", FLOATING)
def test_group_norm(dtype):
    x, grad = sample((2, 6, 5, 7), dtype), sample((2, 6, 5, 7), dtype)
    weight, bias = sample((6,), dtype), sample((6,), dtype)

    def whole(grad, x, weight, bias):
        return gradients(
            lambda x, w, b: F.group_norm(x, 3, w, b), grad, x, weight, bias
        )

    compare(whole, grad, x, weight, bias, **tolerance(dtype))
    compare(lambda x: F.group_norm(x, 2), x, **tolerance(dtype))
    last = x.contiguous(memory_format=torch.channels_last)
    compare(lambda x: F.group_norm(x, 2), last, **tolerance(dtype))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", FLOATING)
def test_batch_norm(dtype, training):
    x, grad = sample((4, 6, 5, 7), dtype), sample((4, 6, 5, 7), dtype)
    weight, bias = sample((6,), dtype), sample((6,), dtype)
    mean, var = sample((6,), dtype), sample((6,), dtype, low=0.5)

    def whole(grad, mean, var, x, weight, bias):  # also compares mean and var after it
        return gradients(
            lambda x, w, b: F.batch_norm(x, mean, var, w, b, training, 0.1),
            *(grad, x, weight, bias),
        )

    compare(whole, grad, mean, var, x, weight, bias, **tolerance(dtype))
    last = x.contiguous(memory_format=torch.channels_last)
    compare(
        lambda g, m, v, x: gradients(
            lambda x: F.batch_norm(x, m, v, training=training), g, x
        ),
        *(grad, mean, var, last),
        **tolerance(dtype),
    )


def test_batch_norm_without_statistics():
    x = sample((8, 3), torch.float32)
    compare(
        lambda x: F.batch_norm(x, None, None, training=True), x, rtol=1e-4, atol=1e-4
    )
    compare(lambda x: F.instance_norm(x.view(2, 3, 4)), x, rtol=1e-4, atol=1e-4)

"""Losses and the derivatives of activations: the device's values are the CPU's."""

import pytest
import torch
from support import compare, sample
from torch.nn import functional

aten = torch.ops.aten

BACKWARD = {
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "mish": functional.mish,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "threshold": lambda x: functional.threshold(x, 0.5, 2),
    "hardtanh": functional.hardtanh,
    "hardswish": functional.hardswish,
    "hardsigmoid": functional.hardsigmoid,
    "leaky_relu": functional.leaky_relu,
    "elu": functional.elu,
    "elu_": lambda x: functional.elu_(x * 1),
    "selu": functional.selu,
    "softplus": lambda x: functional.softplus(x, beta=2, threshold=3),
    "hardshrink": functional.hardshrink,
    "softshrink": functional.softshrink,
    "logsigmoid": functional.logsigmoid,
    "logit": lambda x: torch.logit(x.sigmoid(), eps=0.1),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_derivatives(name):
    def derivative(x, grad):
        x = x.clone().requires_grad_()
        BACKWARD[name](x).backward(grad)
        return x.grad

    compare(derivative, sample((7, 11), torch.float32), sample((7, 11), torch.float32))


@pytest.mark.parametrize("reduction", [0, 1])
def test_derivatives_of_losses(reduction):
    def derivatives(grad, x, y):
        return (
            aten.mse_loss_backward(grad, x, y, reduction),
            aten.smooth_l1_loss_backward(grad, x, y, reduction, 0.2),
            aten.huber_loss_backward(grad, x, y, reduction, 0.2),
            aten.binary_cross_entropy_backward(grad, x, y, None, reduction),
            aten.binary_cross_entropy_backward(grad, x, y, y, reduction),
        )

    grad, x, y = (sample((7, 11), torch.float32, 0.1, 0.9) for _ in range(3))
    compare(derivatives, grad, x, y)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses(reduction):
    def losses(x, y):
        options = {"reduction": reduction}
        return (
            functional.mse_loss(x, y, **options),
            functional.smooth_l1_loss(x, y, beta=0.2, **options),
            functional.huber_loss(x, y, delta=0.2, **options),
            functional.binary_cross_entropy(x, y, **options),
            functional.binary_cross_entropy(x, y, weight=y, **options),
        )

    x, y = (sample((7, 11), torch.float32, 0.1, 0.9) for _ in range(2))
    compare(losses, x, y)

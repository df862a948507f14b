"""Fused optimizers, and what GradScaler needs: the device's steps are the CPU's."""

import pytest
import torch
from support import DEVICE, native

OPTIMIZERS = {
    "SGD": {"lr": 0.1, "weight_decay": 0.01},
    "SGD momentum": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "SGD maximize": {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "maximize": True},
    "Adam": {"lr": 0.01, "weight_decay": 0.01},
    "Adam amsgrad": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "Adagrad": {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.01},
}


def train(device, name, dtype, lr_on=None):
    torch.manual_seed(0)
    shapes = [(7, 5), (5,), (3, 2, 4)]
    weights = [torch.randn(shape).to(device, dtype) for shape in shapes]
    grads = [
        [torch.randn(shape).to(device, dtype) for shape in shapes] for _ in range(3)
    ]
    options = dict(OPTIMIZERS[name])
    if lr_on is not None:
        options["lr"] = torch.tensor(options["lr"], device=lr_on)
    optimizer = getattr(torch.optim, name.split()[0])(weights, fused=True, **options)
    for step in grads:
        for weight, grad in zip(weights, step, strict=True):
            weight.grad = grad.clone()
        optimizer.step()
    return [weight.cpu() for weight in weights]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name, dtype):
    result = native(train, DEVICE, name, dtype)
    torch.testing.assert_close(result, train("cpu", name, dtype))


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_a_learning_rate_that_is_a_tensor(name):
    result = native(train, DEVICE, name, torch.float32, lr_on=DEVICE)
    torch.testing.assert_close(result, train("cpu", name, torch.float32))


@pytest.mark.parametrize("bad", [False, True])
def test_a_scaler_unscales_and_skips_steps(bad):
    def run(device):
        weight = torch.ones(4, device=device, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.5, fused=True)
        scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=1)
        loss = (weight * (float("inf") if bad else 1.0)).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return weight.detach().cpu(), scaler.get_scale()

    assert run(DEVICE.type)[1] == (4.0 if bad else 16.0)
    torch.testing.assert_close(run(DEVICE.type)[0], run("cpu")[0])


def test_lists_that_do_not_fit_together():
    x = [torch.ones(3, device=DEVICE)]
    with pytest.raises(RuntimeError, match="size"):
        torch._fused_sgd_(
            x,
            [torch.ones(4, device=DEVICE)],
            [],
            weight_decay=0,
            momentum=0,
            lr=0.1,
            dampening=0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        )

"""The negative log likelihood, of rows and of images."""

import pytest
import torch
from samples import compare, numbers
from support import DEVICE, FLOATING, to_device
from torch.nn.functional import nll_loss

WEIGHT = torch.tensor([0.5, 1, 2, 0, 3])


def loss_and_grad(scores, target, weight, ignored, reduction):
    reduction = ["none", "sum", "mean"][reduction]
    scores = scores.detach().requires_grad_()
    loss = nll_loss(scores, target, weight, ignore_index=ignored, reduction=reduction)
    (grad,) = torch.autograd.grad(loss, scores, torch.ones_like(loss) / 2)
    return loss.detach(), grad


@pytest.mark.parametrize("reduction", range(3))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(6, 5), (200, 5), (5,), (2, 5, 3, 4)])
def test_loss(reduction, weighted, sizes):
    shape = sizes[:1] + sizes[2:] if len(sizes) > 1 else ()
    target = torch.randint(0, 5, shape, generator=torch.Generator().manual_seed(1))
    weight = WEIGHT if weighted else None
    for ignored in (-100, 2):
        compare(loss_and_grad, numbers(*sizes), target, weight, ignored, reduction)


@pytest.mark.parametrize("dtype", FLOATING)
def test_dtypes(dtype):
    target = torch.tensor([0, 4, 2, 1])
    compare(
        loss_and_grad, numbers(4, 5, dtype=dtype), target, WEIGHT.to(dtype), -100, 2
    )
    compare(loss_and_grad, numbers(5, 4, dtype=dtype).t(), target, None, -100, 1)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_no_rows(reduction):
    target = torch.empty(0, dtype=torch.int64)
    compare(lambda x, y: nll_loss(x, y, reduction=reduction), numbers(0, 5), target)


def test_a_wrong_class_is_reported():
    target = torch.tensor([5], device=DEVICE)
    with pytest.raises(IndexError, match=r"nll_loss.*index 5.*size 5"):
        nll_loss(to_device(numbers(1, 5)), target).cpu()

"""Embeddings and their gradients."""

import pytest
import torch
from samples import compare, numbers


def embed(weight, indices, padding):
    weight = weight.detach().requires_grad_()
    rows = torch.nn.functional.embedding(indices, weight, padding_idx=padding)
    (grad,) = torch.autograd.grad(rows, weight, torch.ones_like(rows) * 2)
    return rows.detach(), grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("padding", [None, 1])
@pytest.mark.parametrize("width", [4, 65])
def test_embedding(dtype, padding, width):
    weight = numbers(7, width, dtype=dtype)
    compare(embed, weight, torch.tensor([[1, 2, 1], [6, 0, 1]]), padding)
    compare(embed, weight, torch.tensor([3, 3], dtype=torch.int32), padding)

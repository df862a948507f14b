"""Dropout and its gradient."""

import pytest
import torch
from samples import natively, numbers
from support import DEVICE, FLOATING, to_device
from test_random import words


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("p", [0.0, 0.25, 1.0])
def test_dropout(dtype, p):
    x = numbers(6, 7, dtype=dtype).t()
    on_device = to_device(x).requires_grad_()
    torch.manual_seed(3)
    with natively():
        y = torch.nn.functional.dropout(on_device, p)
        y.backward(torch.ones_like(y))
    scale = 1 / (1 - p) if p < 1 else 0
    kept = torch.tensor([word < (1 - p) * 2**32 for word in words(3, 42)]).view(7, 6)
    expected = x * kept * scale
    torch.testing.assert_close(y.detach().cpu(), expected.to(dtype))
    torch.testing.assert_close(on_device.grad.cpu(), (kept * scale).to(dtype))


def test_evaluation_keeps_everything():
    x = torch.ones(5, device=DEVICE)
    with natively():
        assert (
            torch.nn.functional.dropout(x, 0.5, training=False).cpu().tolist()
            == [1] * 5
        )
        out, mask = torch.native_dropout(x, 0.5, train=False)
    assert out.cpu().all() and mask.cpu().all()

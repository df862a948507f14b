# Memory that is freed before its kernel is launched; see
# docs/operators/borrowed-kernels.md.
"""The stream protects memory that is freed after the launch, and no other."""

import copy
import threading

import torch
from freed_memory import overwritten
from torch import nn


def test_a_freed_block_is_overwritten():
    # What the other tests rely on: this is the fault that they would find.
    with overwritten():
        temporary = torch.ones(1000, device="openreg")
        kept = temporary.data_ptr()
        del temporary
        reused = torch.empty(1000, device="openreg")
    assert reused.data_ptr() == kept
    assert reused.isnan().all()


def _layer() -> tuple[nn.TransformerEncoderLayer, torch.Tensor, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0).eval()
    mask = torch.zeros(8, 8).masked_fill(torch.ones(8, 8).triu(1).bool(), -torch.inf)
    return layer, torch.randn(2, 8, 16), mask


def test_mask_of_an_encoder_layer():
    layer, x, mask = _layer()
    with torch.no_grad():
        expected = layer(x, src_mask=mask)
        device = copy.deepcopy(layer).to("openreg")
        arguments = x.to("openreg"), mask.to("openreg")
        with overwritten():
            result = device(arguments[0], src_mask=arguments[1])
    torch.testing.assert_close(result.cpu(), expected)


def test_mask_of_an_encoder_layer_beside_another_thread():
    layer, x, mask = _layer()
    device = copy.deepcopy(layer).to("openreg")
    stop = threading.Event()

    def fill() -> None:
        while not stop.is_set():
            torch.full((64,), True, device="openreg")

    other = threading.Thread(target=fill)
    other.start()
    try:
        with torch.no_grad():
            expected = layer(x, src_mask=mask)
            x, mask = x.to("openreg"), mask.to("openreg")
            results = [device(x, src_mask=mask) for _ in range(100)]
    finally:
        stop.set()
        other.join()
    for result in results:
        torch.testing.assert_close(result.cpu(), expected)

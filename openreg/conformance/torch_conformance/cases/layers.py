# Level 5: layers of networks; see docs/ship/conformance.md.
from __future__ import annotations

import torch
import torch.nn.functional as F

from torch_conformance._case import Area
from torch_conformance._device import Device
from torch_conformance._progress import progress
from torch_conformance.cases.operators import compare

area = Area(
    "layers",
    level=5,
    stage=6,
    page="operators/composite",
    implement="the operators with `overrideable` in their names, for PrivateUse1",
)


def _layer(d: Device, layer: torch.nn.Module, *shape: int) -> None:
    """Compare outputs and gradients of a layer with those of the CPU."""
    torch.manual_seed(5)
    x = torch.randn(*shape)
    found = []
    for place in (torch.device("cpu"), d()):
        progress()
        layer.zero_grad()
        layer.to(place)
        y = x.to(place, copy=True).requires_grad_()
        output = layer(y)
        output = output[0] if isinstance(output, tuple) else output
        output.square().sum().backward()
        gradients = [p.grad for p in layer.parameters() if p.grad is not None]
        found.append([t.detach().cpu() for t in (output, y.grad, *gradients)])
    for ours, theirs in zip(found[1], found[0], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


@area.case(
    "Convolutions have the outputs and gradients of the CPU.",
    implement="aten::convolution_overrideable and convolution_backward_overrideable",
)
def convolution(d: Device) -> None:
    _layer(d, torch.nn.Conv1d(4, 6, 3, padding=1), 2, 4, 9)
    _layer(d, torch.nn.Conv2d(4, 6, 3, stride=2, groups=2), 2, 4, 9, 9)
    _layer(d, torch.nn.ConvTranspose2d(4, 6, 3), 2, 4, 5, 5)


@area.case(
    "Recurrent networks have the outputs and gradients of the CPU.",
    implement="aten::_thnn_fused_lstm_cell and _thnn_fused_gru_cell for PrivateUse1",
    page="operators/fused-layers",
)
def recurrent(d: Device) -> None:
    for kind in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU):
        _layer(d, kind(4, 8, num_layers=2, batch_first=True), 2, 5, 4)


@area.case(
    "Attention has the outputs and gradients of the CPU.",
    implement="aten::_fused_sdp_choice for PrivateUse1, "
    "aten::_scaled_dot_product_fused_attention_overrideable",
    page="operators/attention",
)
def attention(d: Device) -> None:
    class Attention(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.scaled_dot_product_attention(x, x * 2, x + 1, is_causal=True)

    _layer(d, Attention(), 2, 2, 7, 8)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    _layer(d, layer, 2, 5, 8)


@area.case("Normalization, pooling and upsampling have the values of the CPU.")
def normalization(d: Device) -> None:
    _layer(d, torch.nn.BatchNorm2d(4), 3, 4, 5, 5)
    _layer(d, torch.nn.GroupNorm(2, 4), 3, 4, 5, 5)
    _layer(
        d, torch.nn.Sequential(torch.nn.MaxPool2d(2), torch.nn.AvgPool2d(2)), 2, 3, 8, 8
    )
    _layer(d, torch.nn.Upsample(scale_factor=2, mode="bilinear"), 2, 3, 4, 4)


@area.case("Losses have the values of the CPU.")
def losses(d: Device) -> None:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(6, 5, generator=generator)
    target = torch.tensor([0, 4, 2, 2, 1, 3])
    compare(
        d,
        {
            "cross entropy": lambda a, t: F.cross_entropy(a, t, label_smoothing=0.1),
            "binary": lambda a, t: F.binary_cross_entropy_with_logits(a, a.sigmoid()),
            "mse": lambda a, t: F.mse_loss(a, a * 2, reduction="none"),
            "huber": lambda a, t: F.huber_loss(a, a.flip(0)),
            "kl": lambda a, t: F.kl_div(a.log_softmax(1), a.softmax(1)),
        },
        x,
        target,
    )

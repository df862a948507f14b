# A model whose gelu is planted wrong on the device; see docs/ship/parity.md.
"""python -m torch_openreg_compare wrong_gelu.py"""

import warnings

import torch
from torch import Tensor, nn


# LITERALINCLUDE START: WRONG_GELU
class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = [nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)]
        self.layers = nn.Sequential(*layers, nn.Dropout(0.1))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


def build() -> tuple[nn.Module, tuple[Tensor]]:
    return nn.Sequential(Block(), Block()), (torch.randn(8, 16),)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:  # (1)
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))


# LITERALINCLUDE END: WRONG_GELU
warnings.filterwarnings("ignore", "(?s).*previously registered kernel")  # on purpose
device_kernels = torch.library.Library("aten", "IMPL")
device_kernels.impl("gelu", gelu, "PrivateUse1", allow_override=True)

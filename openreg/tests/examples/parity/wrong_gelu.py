# A model whose gelu is planted wrong on the device; see docs/ship/parity.md.
"""python -m torch_openreg_compare wrong_gelu.py"""

import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional as F


# LITERALINCLUDE START: WRONG_GELU
class Block(nn.Module):
    """Two layers and a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.gelu(self.up(self.norm(x)))
        return x + F.dropout(self.down(hidden), 0.1)


def build() -> tuple[nn.Module, tuple[Tensor]]:
    """Return a model and its inputs, on the CPU."""
    return nn.Sequential(Block(), Block()), (torch.randn(8, 16),)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """The wrong kernel: it always computes the approximation."""
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))


# LITERALINCLUDE END: WRONG_GELU
warnings.filterwarnings("ignore", "(?s).*previously registered kernel")  # on purpose
device_kernels = torch.library.Library("aten", "IMPL")
device_kernels.impl("gelu", gelu, "PrivateUse1", allow_override=True)

# The device's kernels for layers of vLLM; see docs/frontend/serving-attention.md.
"""There are two places to register one: an operator of vLLM's IR, and a layer."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from vllm import ir
from vllm.model_executor.layers.activation import SiluAndMul


def whole_rows(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> bool:
    """Say whether the kernel below can do this; otherwise vLLM takes the next."""
    return variance_size is None


# LITERALINCLUDE START: VLLM_RMS_NORM
@ir.ops.rms_norm.register_impl("openreg", supports_args=whole_rows)
def rms_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> torch.Tensor:
    """Call the kernel of the device instead of six operators."""
    return F.rms_norm(x, x.shape[-1:], weight, epsilon)


# LITERALINCLUDE END: VLLM_RMS_NORM


# LITERALINCLUDE START: VLLM_SILU
@SiluAndMul.register_oot(name="SiluAndMul")
class OpenRegSiluAndMul(SiluAndMul):
    """vLLM creates this class where a model uses SiluAndMul."""

    def forward_oot(self, x: torch.Tensor) -> torch.Tensor:
        """Write the product into the memory of the first factor."""
        gate, up = x.chunk(2, dim=-1)
        return F.silu(gate).mul_(up)


# LITERALINCLUDE END: VLLM_SILU

# A Triton kernel as an operator of PyTorch; see docs/modules/triton.md.
"""``softcap`` limits values smoothly to an interval; attention scores go through it."""

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton
from triton.language.extra import libdevice


# LITERALINCLUDE START: SOFTCAP_KERNEL
@triton.jit
def softcap_kernel(x, out, cap, size, BLOCK: tl.constexpr):
    """Write ``cap * tanh(x / cap)``."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < size
    value = tl.load(x + i, mask=mask).to(tl.float32)
    tl.store(out + i, cap * libdevice.tanh(value / cap), mask=mask)


def grid(size: int, block: int) -> tuple[int]:
    """Return how many programs cover all elements."""
    return (triton.cdiv(size, block),)


# LITERALINCLUDE END: SOFTCAP_KERNEL


# LITERALINCLUDE START: SOFTCAP_OPERATOR
@triton_op("triton_kernels::softcap", mutates_args={})
def softcap(x: torch.Tensor, cap: float) -> torch.Tensor:
    """Limit values smoothly to ``(-cap, cap)``; ``torch.compile`` sees the kernel."""
    x = x.contiguous()
    out = torch.empty_like(x)
    wrap_triton(softcap_kernel)[grid(x.numel(), 256)](x, out, cap, x.numel(), BLOCK=256)
    return out


def setup_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    """Keep what the derivative needs."""
    ctx.cap = inputs[1]
    ctx.save_for_backward(output)


def backward(ctx, grad):  # type: ignore[no-untyped-def]
    """Return the derivative: ``1 - tanh(x / cap) ** 2``."""
    (out,) = ctx.saved_tensors
    return grad * (1 - (out / ctx.cap) ** 2), None


softcap.register_autograd(backward, setup_context=setup_context)
# LITERALINCLUDE END: SOFTCAP_OPERATOR


# LITERALINCLUDE START: SOFTCAP_CUSTOM
@torch.library.custom_op("triton_kernels::softcap_opaque", mutates_args=())
def softcap_opaque(x: torch.Tensor, cap: float) -> torch.Tensor:
    """Do the same; ``torch.compile`` calls it as it is, and fuses nothing."""
    x = x.contiguous()
    out = torch.empty_like(x)
    softcap_kernel[grid(x.numel(), 256)](x, out, cap, x.numel(), BLOCK=256)
    return out


@softcap_opaque.register_fake
def _(x: torch.Tensor, cap: float) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# LITERALINCLUDE END: SOFTCAP_CUSTOM

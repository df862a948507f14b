# A library of Triton kernels that replaces operators of PyTorch; see
# docs/modules/triton.md.
"""After ``enable()``, ATen's operators on the device are Triton kernels.

Libraries of kernels that fit several vendors' devices work like this: the kernels are
written once, and each device has a compiler. ``disable()`` brings back the kernels of
the backend.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

_library: torch.library.Library | None = None


# LITERALINCLUDE START: LIBRARY_SILU
@triton.jit
def silu_kernel(x, out, size, BLOCK: tl.constexpr):
    """Write ``x * sigmoid(x)``."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < size
    value = tl.load(x + i, mask=mask).to(tl.float32)
    tl.store(out + i, value * tl.sigmoid(value), mask=mask)


def silu(x: torch.Tensor) -> torch.Tensor:
    """Replace ``aten::silu``."""
    x = x.contiguous()
    out, size = torch.empty_like(x), x.numel()
    silu_kernel[(triton.cdiv(size, 1024),)](x, out, size, BLOCK=1024)
    return out


# LITERALINCLUDE END: LIBRARY_SILU


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    """Write the softmax of one row."""
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    value = tl.load(x + row + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, 0))
    tl.store(out + row + i, power / tl.sum(power, 0), mask=i < columns)


def softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """Replace ``aten::_softmax``, of which ``torch.softmax`` is made."""
    if half_to_float:
        x = x.float()
    rows = x.movedim(dim, -1).contiguous()
    out, columns = torch.empty_like(rows), rows.shape[-1]
    block = triton.next_power_of_2(columns)
    softmax_kernel[(rows.numel() // columns,)](rows, out, columns, BLOCK=block)
    return out.movedim(-1, dim)


# LITERALINCLUDE START: LIBRARY_ENABLE
OPERATORS: dict[str, Callable[..., Any]] = {"silu": silu, "_softmax": softmax}


def enable() -> None:
    """Replace the operators of the device, for this process."""
    global _library
    if _library is None:
        _library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():  # torch warns of what this function is for
            warnings.filterwarnings("ignore", message="(?s).*Overriding a previously")
            for name, function in OPERATORS.items():
                _library.impl(name, function, "PrivateUse1", allow_override=True)


def disable() -> None:
    """Bring back the operators of the backend."""
    global _library
    if _library is not None:
        _library._destroy()
        _library = None


# LITERALINCLUDE END: LIBRARY_ENABLE

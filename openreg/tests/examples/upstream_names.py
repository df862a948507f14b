# Upstream's demonstration operators in Python; see docs/operators/custom-python.md.
"""The operators that PyTorch's own ``torch_openreg`` offers, under the same names."""

import torch
from torch import Tensor


# LITERALINCLUDE START: CUSTOM_ABS
@torch.library.custom_op("openreg::custom_abs", mutates_args=(), device_types="openreg")
def custom_abs(input: Tensor) -> Tensor:
    """Return the absolute values: an operator of the device, under another name."""
    return torch.abs(input)


@custom_abs.register_fake
def _(input: Tensor) -> Tensor:
    return torch.empty_like(input, dtype=input.abs().dtype)


custom_abs.register_autograd(
    lambda ctx, grad: grad * torch.sgn(ctx.saved_tensors[0]),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
# LITERALINCLUDE END: CUSTOM_ABS


# LITERALINCLUDE START: CUSTOM_AUTOGRAD_FUNCTIONS
class ReturnsSelf(torch.autograd.Function):
    """Returns its input; half of the gradient goes back, so that a test notices it."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        pass

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        return grad / 2


class Aliasing(ReturnsSelf):
    """Returns a view of its input instead of the input."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.view_as(x)


library = torch.library.Library("openreg", "FRAGMENT")  # lives as long as this module
library.define("custom_autograd_fn_returns_self(Tensor input) -> Tensor")
library.define("custom_autograd_fn_aliasing(Tensor(a) input) -> Tensor(a)")
for name, function in {
    "custom_autograd_fn_returns_self": ReturnsSelf,
    "custom_autograd_fn_aliasing": Aliasing,
}.items():
    library.impl(name, function.apply, "AutogradPrivateUse1")
# LITERALINCLUDE END: CUSTOM_AUTOGRAD_FUNCTIONS

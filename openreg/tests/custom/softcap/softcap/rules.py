# Autograd, autocast and vmap of softcap, from Python; see docs/operators/custom.md.
import torch
from torch.library import register_autocast, register_autograd, register_vmap

import softcap  # noqa: F401  defines the operators

softcap_op = torch.ops.softcap.softcap.default
softcap_backward_op = torch.ops.softcap.softcap_backward.default


# LITERALINCLUDE START: SOFTCAP_AUTOGRAD
def setup_context(ctx, inputs, output):
    _, _, ctx.cap = inputs
    ctx.save_for_backward(output)


def backward(ctx, grad):
    (y,) = ctx.saved_tensors
    grad_x = softcap_backward_op(grad, y, ctx.cap)
    return grad_x, grad_x.sum_to_size(y.shape[-1:]), None


register_autograd("softcap::softcap", backward, setup_context=setup_context)
# LITERALINCLUDE END: SOFTCAP_AUTOGRAD


def setup_context_twice(ctx, inputs, output):
    grad, y, ctx.cap = inputs
    ctx.save_for_backward(grad, y)


def backward_twice(ctx, outer):
    grad, y = ctx.saved_tensors
    by_grad = softcap_backward_op(outer, y, ctx.cap)
    by_y = outer * grad * y * (-2 / ctx.cap**2)
    return by_grad, by_y, None


register_autograd(
    "softcap::softcap_backward", backward_twice, setup_context=setup_context_twice
)

# LITERALINCLUDE START: SOFTCAP_AUTOCAST_PYTHON
register_autocast("softcap::softcap", "openreg", torch.float32)
# LITERALINCLUDE END: SOFTCAP_AUTOCAST_PYTHON


# LITERALINCLUDE START: SOFTCAP_VMAP
@register_vmap("softcap::softcap")
def softcap_vmap(info, in_dims, x, bias, cap):
    x_dim, bias_dim, _ = in_dims
    x = x.expand(info.batch_size, *x.shape) if x_dim is None else x.movedim(x_dim, 0)
    if bias_dim is not None:  # one bias for each example: add it before
        shape = [info.batch_size] + [1] * (x.dim() - 2) + [-1]
        x = x + bias.movedim(bias_dim, 0).reshape(shape)
        bias = bias.new_zeros(x.shape[-1])
    return softcap_op(x, bias, cap), 0


# LITERALINCLUDE END: SOFTCAP_VMAP


@register_vmap("softcap::softcap_backward")
def softcap_backward_vmap(info, in_dims, grad, y, cap):
    grad, y = (
        tensor.expand(info.batch_size, *tensor.shape)
        if dim is None
        else tensor.movedim(dim, 0)
        for tensor, dim in zip((grad, y), in_dims[:2], strict=True)
    )
    return softcap_backward_op(grad, y, cap), 0

# softcap, with kernels and rules in Python; see docs/operators/custom-python.md.
import torch
from torch import Tensor


# LITERALINCLUDE START: PYTHON_OP
@torch.library.custom_op("softcap_python::softcap", mutates_args=(), device_types="cpu")
def softcap(x: Tensor, bias: Tensor, cap: float) -> Tensor:
    return (cap * torch.tanh((x + bias) / cap)).contiguous()


# LITERALINCLUDE END: PYTHON_OP


# LITERALINCLUDE START: PYTHON_KERNEL
@softcap.register_kernel("openreg")
def softcap_openreg(x, bias, cap):
    y = torch.add(x.contiguous(), bias)
    return y.div_(cap).tanh_().mul_(cap)


# LITERALINCLUDE END: PYTHON_KERNEL


# LITERALINCLUDE START: PYTHON_FAKE
@softcap.register_fake
def softcap_fake(x, bias, cap):
    torch._check(x.shape[-1] == bias.shape[0], lambda: "bias does not fit x")
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# LITERALINCLUDE END: PYTHON_FAKE


# LITERALINCLUDE START: PYTHON_AUTOGRAD
def setup_context(ctx, inputs, output):
    _, _, ctx.cap = inputs
    ctx.save_for_backward(output)


def backward(ctx, grad):
    (y,) = ctx.saved_tensors
    grad_x = grad * (1 - (y / ctx.cap).square())
    return grad_x, grad_x.sum_to_size(y.shape[-1:]), None


softcap.register_autograd(backward, setup_context=setup_context)
# LITERALINCLUDE END: PYTHON_AUTOGRAD

# LITERALINCLUDE START: PYTHON_AUTOCAST
softcap.register_autocast("openreg", torch.float32)
# LITERALINCLUDE END: PYTHON_AUTOCAST


# LITERALINCLUDE START: PYTHON_VMAP
def softcap_vmap(info, in_dims, x, bias, cap):
    x_dim, bias_dim, _ = in_dims
    x = x.expand(info.batch_size, *x.shape) if x_dim is None else x.movedim(x_dim, 0)
    if bias_dim is not None:  # one bias for each example: add it before
        shape = [info.batch_size] + [1] * (x.dim() - 2) + [-1]
        x = x + bias.movedim(bias_dim, 0).reshape(shape)
        bias = bias.new_zeros(x.shape[-1])
    return softcap(x, bias, cap), 0


softcap.register_vmap(softcap_vmap)
# LITERALINCLUDE END: PYTHON_VMAP


# LITERALINCLUDE START: PYTHON_FUNCTION
class Softcap(torch.autograd.Function):
    @staticmethod
    def forward(x, bias, cap):
        return softcap(x, bias, cap)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, _, ctx.cap = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return backward(ctx, grad)

    @staticmethod
    def vmap(info, in_dims, x, bias, cap):
        return softcap_vmap(info, in_dims, x, bias, cap)


# LITERALINCLUDE END: PYTHON_FUNCTION

# Runs the same call on both devices and compares; see docs/operators/composite.md.
import re

import pytest
import torch
from backend import driver
from torch.testing import assert_close

# How far a sum of a thousand numbers may be from the CPU's, in another order.
SUMS = {
    torch.float32: {"rtol": 2e-5, "atol": 4e-4},
    torch.float16: {"rtol": 2e-3, "atol": 0.02},
    torch.bfloat16: {"rtol": 0.02, "atol": 0.1},
}


def of_sums(dtype):
    """Return tolerances for sums: the usual ones if the kernels are the CPU's."""
    is_host = "kernels of the host" in driver.CAPABILITIES
    return {} if is_host else SUMS.get(dtype, {})


def leaf(tensor, device):
    """Return a leaf with the values of ``tensor`` on ``device``; None stays None."""
    if tensor is None:
        return None
    return tensor.detach().clone().to(device).requires_grad_()


def values_and_grads(call, tensors, device):
    """Call ``call`` on ``device``; return its results and the gradients, on the CPU."""
    leaves = [leaf(tensor, device) for tensor in tensors]
    results = call(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    torch.manual_seed(1)
    weights = [torch.randn(r.shape).to(r.dtype) for r in results]
    assert {r.device.type for r in results} == {torch.device(device).type}
    torch.autograd.backward(results, [w.to(device) for w in weights])
    grads = [x.grad for x in leaves if x is not None]
    return [x if x is None else x.detach().cpu() for x in (*results, *grads)]


def check_against_cpu(call, *tensors, **tolerance):
    expected = values_and_grads(call, tensors, "cpu")
    actual = values_and_grads(call, tensors, "openreg")
    assert_close(actual, expected, **tolerance)


def losses_of_training(model, loss_of, device):
    """Train ``model`` on ``device``; return ``loss_of(model)`` of its three steps."""
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def same(call, device="openreg"):
    """Call on both devices; compare values, dtypes, sizes and strides."""
    torch.manual_seed(0)
    expected = call("cpu")
    torch.manual_seed(0)
    actual = call(device)
    if isinstance(expected, torch.Tensor):
        expected, actual = (expected,), (actual,)
    for one, other in zip(actual, expected, strict=True):
        assert one.device.type == "openreg"
        if other.numel():
            assert one.stride() == other.stride()
        assert_close(one.cpu(), other, equal_nan=True)


def same_error(call, errors=Exception):
    """Both devices raise the same type with the same first line, and go on."""
    with pytest.raises(errors) as expected:
        call("cpu")
    with pytest.raises(errors) as actual:
        call("openreg")
    torch.accelerator.synchronize()  # no kernel had started
    assert type(actual.value) is type(expected.value)
    assert first_line(actual.value) == first_line(expected.value)


def first_line(error: BaseException) -> str:
    """Without the name of a kernel, which is a C++ function's on the CPU."""
    line = str(error).partition("\n")[0].replace("openreg:0", "cpu")
    return re.sub(r'^"\w+" not', "not", line)


def random(*shape, dtype=torch.float32):
    return lambda device: torch.randn(*shape, dtype=dtype).to(device)


def ints(*shape, high=5, dtype=torch.int64):
    return lambda device: torch.randint(high, shape, dtype=dtype).to(device)


def guarded(sizes, dtype, device):
    """A tensor with gaps, for out=, and the memory around it, which must stay."""
    larger = [size * 2 + 1 for size in sizes]
    memory = torch.ones(larger, dtype=dtype, device=device)
    return memory[tuple(slice(1, None, 2) for _ in sizes)], memory


def same_into_a_view(call):
    """``call(device, out)`` writes to the view, as ``call(device, None)`` returns."""
    torch.manual_seed(0)
    expected = call("cpu", None)
    out, memory = guarded(expected.shape, expected.dtype, "openreg")
    torch.manual_seed(0)
    assert call("openreg", out) is out
    assert_close(out.cpu(), expected, equal_nan=True)
    out.fill_(1)
    assert (memory == 1).all()

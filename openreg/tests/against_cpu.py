# Runs the same call on both devices and compares; see docs/operators/composite.md.
import torch
from torch.testing import assert_close


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

# What torch builds on autograd, on this device; see docs/operators/autograd.md.
import threading

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint

openreg = torch.openreg


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).to("openreg").requires_grad_()


# -- memory --


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize("preserve", [True, False])
def test_a_checkpoint_draws_the_same_mask_again(use_reentrant, preserve):
    x = torch.ones(1000, device="openreg", requires_grad=True)
    options = {"use_reentrant": use_reentrant, "preserve_rng_state": preserve}
    y = checkpoint(lambda x: F.dropout(x) * x, x, **options)
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), 2 * y.detach().cpu()) == preserve


def test_a_checkpoint_saves_its_input_only():
    def saved(call):
        names = []
        x = torch.ones(1000, device="openreg", requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: names.append(tensor.shape) or tensor, lambda tensor: tensor
        ):
            result = call(x)
        result.sum().backward()
        return len(names)

    def layer(x):
        return x.exp().tanh().sin()

    assert saved(layer) == 3
    assert saved(lambda x: checkpoint(layer, x, use_reentrant=False)) == 1


@pytest.mark.parametrize("pin_memory", [False, True])
def test_what_the_forward_saves_moves_to_the_host(pin_memory):
    openreg.synchronize()
    torch.empty(1).pin_memory()  # takes back what copies of earlier tests have used
    before = openreg.memory_allocated()
    pinned = openreg.host_memory_stats()["active_bytes.current"]
    x = torch.ones(1 << 16, device="openreg", requires_grad=True)
    with torch.autograd.graph.save_on_cpu(pin_memory, device_type="openreg"):
        y = x.exp().sin()
    saved = 2 * x.nbytes  # by exp and by sin
    assert openreg.memory_allocated() - before == 2 * x.nbytes  # x and y
    now = openreg.host_memory_stats()["active_bytes.current"]
    assert now - pinned >= saved if pin_memory else now == pinned
    y.sum().backward()
    expected = torch.full((1 << 16,), 1.0).exp()
    assert_close(x.grad.cpu(), expected * expected.cos())


def test_moving_to_the_host_follows_the_stream():
    side = openreg.Stream()
    x = torch.ones(1000, device="openreg", requires_grad=True)
    openreg.synchronize()
    with (
        openreg.stream(side),
        torch.autograd.graph.save_on_cpu(True, device_type="openreg"),
        openreg.simulator.delay(2000, seed=1),
    ):
        y = (x + 1).exp()
        y.sum().backward()
    side.synchronize()
    assert_close(x.grad.cpu(), y.detach().cpu())


# -- hooks --


def test_hooks_see_gradients_of_the_device_in_order():
    seen = []
    x = leaf(1.0, 2.0)
    y = x * x
    y.register_hook(lambda grad: seen.append(("y", grad.tolist())) or grad * 2)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda grads: seen.append(("pre", len(grads))))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(("node", len(ins))))
    x.register_hook(lambda grad: seen.append(("x", grad.tolist())))
    x.register_post_accumulate_grad_hook(lambda x: seen.append(("done", x.grad.device)))
    y.sum().backward()
    device = torch.device("openreg:0")
    assert seen == [
        *[("y", [1, 1]), ("pre", 1), ("node", 2)],
        *[("x", [4, 8]), ("done", device)],
    ]
    assert y.grad.tolist() == [2, 2]


def test_a_hook_of_two_leaves_runs_where_it_was_made_and_may_read_both():
    """It is the first to use the leaves, so they accumulate on its stream."""
    streams = [openreg.Stream(), openreg.Stream()]
    leaves = [torch.ones(1000, device="openreg", requires_grad=True) for _ in range(2)]
    sums = []

    def hook(grads):
        assert openreg.current_stream() == openreg.default_stream()
        assert not streams[0].query()
        sums.append(grads[0] + grads[1])

    torch.autograd.graph.register_multi_grad_hook(leaves, hook)
    gradient = torch.full((1000,), 3.0, device="openreg")
    openreg.synchronize()
    ends = []
    for stream, x in zip(streams, leaves, strict=True):
        with openreg.stream(stream):
            y = x + x
            ends.append(y + y)
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    try:
        with openreg.simulator.hold(streams[0]):
            torch.autograd.backward(ends, [gradient, gradient])
    finally:
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    assert sums[0].tolist() == [24.0] * 1000


def test_a_hook_of_two_results_runs_on_the_stream_of_the_last():
    """No stream has waited for the other one: the hook has to."""
    first, last = openreg.Stream(), openreg.Stream()
    leaves = [torch.ones(1000, device="openreg", requires_grad=True) for _ in range(2)]
    gradient = torch.full((1000,), 3.0, device="openreg")
    openreg.synchronize()
    middle, ends, sums = [], [], []
    for stream, x in ((last, leaves[0]), (first, leaves[1])):  # newer nodes run first
        with openreg.stream(stream):
            middle.append(x + x)
            ends.append(middle[-1] + middle[-1])

    def hook(grads):
        assert openreg.current_stream() == last
        last.synchronize()  # returns, although the other one is held back
        assert not first.query()
        last.wait_stream(first)
        sums.append(grads[0] + grads[1])

    torch.autograd.graph.register_multi_grad_hook(middle, hook)
    with openreg.simulator.hold(first):
        torch.autograd.backward(ends, [gradient, gradient])
    openreg.synchronize()
    assert sums[0].tolist() == [12.0] * 1000
    assert leaves[0].grad.tolist() == [12.0] * 1000


# -- looking for mistakes --


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
def test_anomaly_mode_names_the_call_that_made_a_nan():
    x = leaf(0.0)
    with (
        torch.autograd.detect_anomaly(),
        pytest.warns(UserWarning, match="Error detected in SqrtBackward0"),
        pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values"),
    ):
        (x.sqrt() * 0).sum().backward()


def test_a_saved_tensor_that_changed_is_refused():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace.*openregDouble"):
        y.sum().backward()


# -- other ways to differentiate --


def polynomial(x):
    return (x**3).sum() + x.prod()


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.func.grad(f),
        lambda f: torch.func.hessian(f),
        lambda f: torch.func.jacrev(torch.func.jacrev(f)),
        lambda f: torch.func.jacfwd(torch.func.grad(f)),
        lambda f: lambda x: torch.func.jvp(f, (x,), (x,)),
        lambda f: lambda x: torch.func.vjp(f, x)[1](f(x)),
        lambda f: lambda x: torch.func.linearize(f, x)[1](x),
        lambda f: lambda x: torch.func.vmap(torch.func.grad(f))(x.expand(2, 3) + x),
    ],
    ids=["grad", "hessian", "jacrev", "jacfwd", "jvp", "vjp", "linearize", "vmap"],
)
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr")  # linearize
def test_functional_transforms_give_what_the_cpu_gives(transform):
    x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    expected = transform(polynomial)(x)
    actual = transform(polynomial)(x.to("openreg"))
    actual = tuple(a.cpu() for a in actual) if isinstance(actual, tuple) else actual
    assert_close(actual if isinstance(actual, tuple) else actual.cpu(), expected)


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_vmap_draws_as_it_is_told(randomness):
    def draw(x):
        return F.dropout(x, 0.5)

    x = torch.ones(2, 1000, device="openreg")
    rows = torch.func.vmap(draw, randomness=randomness)(x).cpu()
    assert torch.equal(rows[0], rows[1]) == (randomness == "same")
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(draw)(x)


# -- threads --


def test_backward_runs_on_a_thread_of_the_device_unless_told_not_to():
    names = []

    class Note(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + x

        @staticmethod
        def backward(ctx, grad):
            names.append((threading.get_ident(), openreg.current_device()))
            return grad + grad

    xs = [torch.ones(1, device=f"openreg:{i}", requires_grad=True) for i in range(2)]
    total = Note.apply(xs[0]) + Note.apply(xs[1]).to("openreg:0")
    total.backward()
    assert len({thread for thread, _ in names} | {threading.get_ident()}) == 3
    assert sorted(device for _, device in names) == [0, 1]
    assert [x.grad.item() for x in xs] == [2, 2]
    names.clear()
    with torch.autograd.set_multithreading_enabled(False):
        (Note.apply(xs[0]) + Note.apply(xs[1]).to("openreg:0")).backward()
    me = threading.get_ident()
    assert sorted(names) == [(me, 0), (me, 1)]


def test_backward_inside_of_backward():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                again = x.detach().requires_grad_()
                (again * again).sum().backward()
            return grad * again.grad

    x = leaf(1.0, 3.0)
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 6]

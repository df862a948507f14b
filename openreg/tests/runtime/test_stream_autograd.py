# The autograd engine on side streams and several devices; see docs/runtime/stream.md.
import threading

import pytest
import torch
from holding import delay, hold

openreg = torch.openreg
seen: list[tuple[str, torch.Stream]] = []


class Doubled(torch.autograd.Function):
    """x + x, which says on which stream its backward runs. Needs no fallback."""

    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        return x + x

    @staticmethod
    def backward(ctx, grad):
        seen.append((ctx.name, openreg.current_stream(grad.device)))
        return grad + grad, None


class AddFrom(torch.autograd.Function):
    """x + y, where the gradient of y is new memory of the stream of this backward."""

    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad + 1


@pytest.fixture(autouse=True)
def _forget():
    """Start without notes, and without a warning that torch gives once a process."""
    seen.clear()
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    yield
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)


def leaf(device="openreg") -> torch.Tensor:
    """A leaf of ones; its hooks say on which stream they run."""
    x = torch.ones(1000, device=device, requires_grad=True)
    x.register_hook(lambda grad: seen.append(("hook", openreg.current_stream(device))))
    x.register_post_accumulate_grad_hook(
        lambda _: seen.append(("accumulated", openreg.current_stream(device)))
    )
    openreg.synchronize()
    return x


def ones(device="openreg") -> torch.Tensor:
    return torch.ones(1000, device=device)


def value(tensor: torch.Tensor) -> float:
    host = tensor.detach().cpu()
    assert torch.all(host == host[0])
    return host[0].item()


@pytest.mark.needs(capability="hold")
def test_backward_runs_on_the_stream_of_the_forward_and_the_caller_waits_for_it():
    x, side, default = leaf(), openreg.Stream(), openreg.current_stream()
    with openreg.stream(side):
        y = Doubled.apply(x, "side")
    with hold(side):
        y.backward(ones())  # from the default stream
        assert seen == [("side", side), ("hook", side), ("accumulated", side)]
        assert not side.query()
        assert not default.query()  # whatever follows sees the gradient
        assert openreg.current_stream() == default
    assert value(x.grad) == 2


@pytest.mark.needs(capability="hold")
def test_backward_inside_of_a_stream_waits_there():
    x, side, default = leaf(), openreg.Stream(), openreg.current_stream()
    y = Doubled.apply(x, "default")
    with openreg.stream(side):
        side.wait_stream(default)
        gradient = ones()
        with hold(default):
            default.wait_stream(side)
            y.backward(gradient)
            assert not side.query()
            z = x.grad + 0
            assert openreg.current_stream() == side
        assert value(z) == 2
    assert [stream for _, stream in seen] == [default] * 3


@pytest.mark.needs(capability="hold")
def test_without_the_engine_s_wait_the_gradient_would_be_wrong():
    """The same program on a stream that does not wait."""
    x, side, other = leaf(), openreg.Stream(), openreg.Stream()
    with openreg.stream(side):
        y = Doubled.apply(x, "side")
    gradient = ones()
    x.grad = torch.zeros(1000, device="openreg")
    openreg.synchronize()
    with hold(side):
        y.backward(gradient)
        with openreg.stream(other):
            assert value(x.grad + 0) == 0
    assert value(x.grad) == 2


@pytest.mark.needs(capability="hold")
def test_gradients_of_two_streams_meet_on_the_stream_of_the_leaf():
    x = leaf()
    a, b, main = openreg.Stream(), openreg.Stream(), openreg.Stream()
    with openreg.stream(a):
        from_a = Doubled.apply(x, "a")
    with openreg.stream(b):
        from_b = Doubled.apply(x, "b")
    main.wait_stream(a)
    main.wait_stream(b)
    with openreg.stream(main):
        y = from_a + from_b
        with hold(b):
            y.backward(ones())
            assert [s.query() for s in (a, b, main)] == [False, False, False]
        assert value(x.grad) == 4
    assert sorted(seen[:2], key=str) == sorted([("a", a), ("b", b)], key=str)
    assert seen[2:] == [("hook", a), ("accumulated", a)]  # where x was used first


@pytest.mark.needs(capability="hold")
def test_memory_of_a_gradient_is_not_reused_before_the_other_stream_has_read_it():
    """The engine notifies the allocator, by recordDataPtrOnStream."""
    x, y = leaf(), leaf()
    producer, consumer = openreg.Stream(), openreg.Stream()
    with openreg.stream(consumer):
        z = Doubled.apply(y, "consumer")
    producer.wait_stream(consumer)
    with openreg.stream(producer):
        total = AddFrom.apply(x, z)
    gradient = ones()
    openreg.synchronize()  # what is held afterwards belongs to the backward
    with hold(consumer):
        total.backward(gradient)
        with openreg.stream(producer):  # where that memory came from
            junk = [torch.full((1000,), 77.0, device="openreg") for _ in range(8)]
            producer.synchronize()
    assert value(y.grad) == 4  # (1 + 1) * 2
    del junk


def test_a_leaf_that_an_old_graph_keeps_accumulates_on_its_old_stream():
    x, side, default = leaf(), openreg.Stream(), openreg.current_stream()
    kept = x.view_as(x).grad_fn  # keeps the node that accumulates: default stream
    side.wait_stream(default)
    with openreg.stream(side):
        y = Doubled.apply(x, "side")
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
        torch.set_warn_always(True)
        try:
            with pytest.warns(UserWarning, match="AccumulateGrad node's stream"):
                y.backward(ones())
        finally:
            torch.set_warn_always(False)
    assert seen == [("side", side), ("hook", default), ("accumulated", default)]
    openreg.synchronize()
    assert value(x.grad) == 2
    del kept


@pytest.mark.needs(capability="hold")
def test_each_device_has_its_own_streams_and_the_caller_waits_for_all():
    x, far, near = leaf(), openreg.Stream(1), openreg.Stream(0)
    with openreg.stream(near):
        y = Doubled.apply(x, "near")
        with openreg.stream(far):
            z = Doubled.apply(y.to("openreg:1"), "far")
    with openreg.stream(openreg.default_stream(1)):
        gradient = ones("openreg:1")
    with hold(far):
        z.backward(gradient)
        names = [name for name, _ in seen]
        assert names == ["far", "near", "hook", "accumulated"]
        assert seen[0][1] == far
        assert [stream for _, stream in seen[1:]] == [near] * 3
        assert not near.query()  # waits for the gradient of the other device
        assert not openreg.default_stream(0).query()
        assert openreg.current_device() == 0
    assert value(x.grad) == 4


@pytest.mark.needs(capability="delay")
def test_accumulation_over_steps_keeps_the_order():
    x, expected = leaf(), torch.ones(1000, requires_grad=True)
    streams = [openreg.Stream() for _ in range(3)]
    with delay(300, seed=3):
        for step in range(6):
            stream = streams[step % 3]
            stream.wait_stream(openreg.current_stream())
            with openreg.stream(stream):
                y = Doubled.apply(x, "step")
                y.backward(torch.full((1000,), float(step), device="openreg"))
            openreg.current_stream().wait_stream(stream)
            (expected + expected).backward(torch.full((1000,), float(step)))
        assert torch.equal(x.grad.cpu(), expected.grad)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.needs(capability="delay")
def test_a_model_in_branches_has_the_gradients_of_the_cpu(seed, devices):
    """Branches on streams of their own, joined on the default stream."""
    generator = torch.Generator().manual_seed(seed)
    data = torch.randn(8, 6, generator=generator)
    weights = [torch.randn(6, 6, generator=generator) for _ in range(4)]

    def branch(x, weight):
        return torch.tanh(x @ weight) * x

    expected = [w.clone().requires_grad_() for w in weights]
    loss = sum(branch(data, w) for w in expected).square().mean()
    loss.backward()

    with delay(150, seed):
        x = data.to("openreg")
        actual = [w.to("openreg").requires_grad_() for w in weights]
        main, parts = openreg.current_stream(), []
        for i, weight in enumerate(actual):
            stream = openreg.Stream(i % devices)
            stream.wait_stream(main)
            with openreg.stream(stream):
                here = torch.device("openreg", i % devices)
                parts.append(branch(x.to(here), weight.to(here)).to("openreg:0"))
            main.wait_stream(stream)
        result = sum(parts).square().mean()
        result.backward()
        gradients = [weight.grad.cpu() for weight in actual]
    assert torch.allclose(result.cpu(), loss)
    for gradient, weight in zip(gradients, expected, strict=True):
        assert torch.allclose(gradient, weight.grad, atol=1e-6)


@pytest.mark.needs(capability="delay")
def test_threads_run_backward_on_their_own_streams():
    results: dict[int, float] = {}

    def train(number: int) -> None:
        stream = openreg.Stream()
        with openreg.stream(stream):
            x = torch.ones(1000, device="openreg", requires_grad=True)
            for _ in range(5):
                Doubled.apply(x, "thread").backward(
                    torch.full((1000,), float(number), device="openreg")
                )
            results[number] = value(x.grad)

    with delay(100, seed=5):
        threads = [threading.Thread(target=train, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {i: 10.0 * i for i in range(4)}
    assert len({stream for _, stream in seen}) == 4

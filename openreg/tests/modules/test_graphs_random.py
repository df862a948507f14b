# Random numbers in captured graphs; chapter docs/modules/graphs.md.
import threading

import pytest
import torch
import torch.nn.functional as F
from graphs_support import DEVICE, Graph, capture, ones, refused
from random_support import DRAWS

REPLAYS = 3

# Operators that draw from the default generator, and what they need.
OPERATORS = {
    "rand": lambda: torch.rand(7, device=DEVICE),
    "randn": lambda: torch.randn(5, 3, device=DEVICE),
    "randint": lambda: torch.randint(100, (9,), device=DEVICE),
    "randperm": lambda: torch.randperm(20, device=DEVICE),
    "dropout": lambda: F.dropout(ones(40), 0.5),
    "rrelu": lambda: F.rrelu(-ones(30), training=True),
    "bernoulli": lambda: torch.bernoulli(ones(40) * 0.5),
    "multinomial": lambda: torch.multinomial(ones(12), 5),
    "multinomial with replacement": lambda: torch.multinomial(ones(4), 9, True),
    "poisson": lambda: torch.poisson(ones(20) * 4),
    "binomial": lambda: torch.binomial(ones(20) * 9, ones(20) * 0.5),
    "gamma": lambda: torch._standard_gamma(ones(20)),
    "dirichlet": lambda: torch._sample_dirichlet(ones(6, 3)),
    "attention": lambda: F.scaled_dot_product_attention(
        ones(1, 1, 6, 4), ones(1, 1, 6, 4), ones(1, 1, 6, 4), dropout_p=0.5
    ),
    "two draws": lambda: torch.rand(5, device=DEVICE) + torch.rand(5, device=DEVICE),
}


def eager(body, seed, times=REPLAYS):
    torch.openreg.manual_seed(seed)
    return [body().clone() for _ in range(times)]


def replays(graph, result, times=REPLAYS):
    values = []
    for _ in range(times):
        graph.replay()
        values.append(result.clone())
    return values


def equal(actual, expected):
    return all(
        torch.equal(a.cpu(), e.cpu()) for a, e in zip(actual, expected, strict=True)
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_replays_give_what_eager_calls_would_give(name):
    body = OPERATORS[name]
    expected = eager(body, seed=11)
    graph, result = capture(body)
    torch.openreg.manual_seed(11)
    assert equal(replays(graph, result), expected)
    assert not torch.equal(expected[0].cpu(), expected[1].cpu())


@pytest.mark.parametrize("name", DRAWS)
def test_every_draw_reads_the_counters_of_its_replay(name):
    mine, theirs = (torch.Generator(DEVICE).manual_seed(5) for _ in range(2))
    x, y = ones(64), ones(64)
    graph, _ = capture(lambda: DRAWS[name](x, mine))
    for _ in range(REPLAYS):
        graph.replay()
        DRAWS[name](y, theirs)
        assert torch.equal(x.cpu(), y.cpu())
    assert mine.get_offset() == theirs.get_offset() > 0


def test_eager_draws_and_replays_take_turns():
    def both(draw):
        torch.openreg.manual_seed(3)
        values = []
        for _ in range(REPLAYS):
            values += [draw().clone(), torch.rand(3, device=DEVICE)]
        return values

    def body():
        return torch.randn(6, device=DEVICE)

    graph, result = capture(body)

    def replay():
        graph.replay()
        return result

    assert equal(both(replay), both(body))


def test_a_capture_takes_no_numbers():
    torch.openreg.manual_seed(4)
    before = torch.openreg.get_rng_state()
    graph, _ = capture(lambda: torch.rand(100, device=DEVICE))
    assert torch.equal(torch.openreg.get_rng_state(), before)
    graph.replay()
    assert torch.openreg.default_generators[0].get_offset() == 25


def test_several_generators_and_shared_states():
    first = torch.Generator(DEVICE).manual_seed(1)
    second = torch.Generator(DEVICE).manual_seed(2)
    shared = first.graphsafe_get_state()

    def body(a, b, c):
        return torch.stack(
            [torch.rand(8, device=DEVICE, generator=g) for g in (a, b, c, a)]
        )

    graph, result = capture(lambda: body(first, second, shared))
    actual = replays(graph, result)
    one, two = (torch.Generator(DEVICE).manual_seed(s) for s in (1, 2))
    expected = [body(one, two, one.graphsafe_get_state()) for _ in range(REPLAYS)]
    assert equal(actual, expected)


def test_draws_of_two_devices_in_one_graph():
    near, far = torch.Stream("openreg:0"), torch.Stream("openreg:1")

    def body():
        far.wait_stream(near)
        with far:
            y = torch.rand(5, device="openreg:1")
        near.wait_stream(far)
        return torch.rand(5, device="openreg:0"), y

    def pairs(call):
        torch.openreg.manual_seed_all(4)
        values = []
        for _ in range(REPLAYS):
            with near:
                result = call() or results
            near.synchronize()
            values += [x.cpu() for x in result]
        return values

    graph, results = capture(body, stream=near)
    expected = pairs(body)
    assert equal(pairs(graph.replay), expected)
    assert not torch.equal(expected[1], expected[3])


def test_two_graphs_draw_from_one_generator():
    def body():
        return torch.rand(5, device=DEVICE)

    first, x = capture(body)
    second, y = capture(body)
    torch.openreg.manual_seed(8)
    actual = []
    for graph, result in ((first, x), (second, y), (first, x)):
        actual += replays(graph, result, times=1)
    assert equal(actual, eager(body, seed=8))


def test_replays_on_several_streams_never_draw_the_same():
    graph, result = capture(lambda: torch.rand(4, device=DEVICE))
    streams = [torch.Stream(DEVICE) for _ in range(3)]
    torch.openreg.manual_seed(9)
    copies = []
    with torch.openreg.simulator.hold(streams[0]):
        for stream in streams:
            with stream:
                graph.replay()
                copies.append(result.clone())
                event = stream.record_event()
            streams[(len(copies)) % 3].wait_event(event)
    torch.accelerator.synchronize()
    assert equal(copies, eager(lambda: torch.rand(4, device=DEVICE), seed=9))


def test_replays_by_several_threads_never_draw_the_same():
    total = torch.zeros(1, device=DEVICE)
    generator = torch.Generator(DEVICE).manual_seed(2)
    graph, _ = capture(
        lambda: total.add_(torch.rand(1, device=DEVICE, generator=generator))
    )

    def run():
        for _ in range(20):
            graph.replay()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert generator.get_offset() == 80
    generator.manual_seed(2)
    expected = sum(
        torch.rand(1, device=DEVICE, generator=generator).item() for _ in range(80)
    )
    assert total.item() == pytest.approx(expected, rel=1e-4)


def test_a_training_step_with_dropout_equals_eager():
    def make():
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5))
        return net.to(DEVICE)

    def step(net, x):
        net.zero_grad(set_to_none=True)
        net(x).square().sum().backward()
        return net[0].weight.grad

    x = torch.randn(4, 8, device=DEVICE)
    net = make()
    expected = eager(lambda: step(net, x), seed=6)
    net = make()
    graph, result = capture(lambda: step(net, x))
    torch.openreg.manual_seed(6)
    assert equal(replays(graph, result), expected)


def test_a_checkpoint_that_restores_random_states_is_refused():
    def body(layer, preserve):
        x = torch.ones(2, 4, device=DEVICE, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(
            layer, x, use_reentrant=False, preserve_rng_state=preserve
        )
        (gradient,) = torch.autograd.grad(y.sum(), x)
        return gradient

    first, second = (torch.nn.Linear(4, 4).to(DEVICE) for _ in range(2))
    refused(lambda: body(first, True), "set_state of a generator cannot be in a graph")
    graph, gradient = capture(lambda: body(second, False))
    graph.replay()
    expected = second.weight.detach().cpu().sum(0).expand(2, 4)
    torch.testing.assert_close(gradient.cpu(), expected)


def test_wrong_probabilities_are_a_fault_of_the_replay():
    p = ones(3) * 0.5
    graph, x = capture(lambda: torch.bernoulli(p))
    p.fill_(2)
    with pytest.raises(torch.AcceleratorError, match=r"check values.*out of range"):
        graph.replay()  # if the device is quick, this call reports it already
        torch.accelerator.synchronize()
    torch.openreg.simulator.reset()
    p.fill_(1)
    graph.replay()
    assert x.tolist() == [1, 1, 1]


def test_a_graph_keeps_drawing_when_its_generator_is_gone():
    def body():
        generator = torch.Generator(DEVICE).manual_seed(7)
        return generator, lambda: torch.rand(4, device=DEVICE, generator=generator)

    generator, draw = body()
    graph, x = capture(draw)
    del generator, draw
    actual = replays(graph, x)
    again = torch.Generator(DEVICE).manual_seed(7)
    assert equal(
        actual, [torch.rand(4, device=DEVICE, generator=again) for _ in range(REPLAYS)]
    )


def test_a_reset_graph_draws_with_its_new_capture():
    graph = Graph()
    with torch.Stream(DEVICE) as stream, graph:
        torch.rand(100, device=DEVICE)
    graph.reset()
    with stream, graph:
        x = torch.rand(4, device=DEVICE)
    torch.openreg.manual_seed(1)
    assert equal(replays(graph, x), eager(lambda: torch.rand(4, device=DEVICE), seed=1))

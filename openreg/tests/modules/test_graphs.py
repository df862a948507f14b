# torch.accelerator.Graph: capture, replay, values; chapter docs/modules/graphs.md.
import re
import warnings

import pytest
import torch
import torch.nn.functional as F
from graphs_support import DEVICE, Graph, capture, ones
from holding import hold
from torch import nn

pytestmark = pytest.mark.needs(capability="graphs")


def same(actual, expected):
    torch.testing.assert_close(actual.cpu(), expected.cpu())


# -- capture and replay --


@pytest.mark.smoke
def test_a_capture_runs_nothing_and_each_replay_runs_all():
    x = ones(4)
    graph, y = capture(lambda: x.add_(1).mul(2))
    assert x.tolist() == [1] * 4
    graph.replay()
    assert x.tolist() == [2] * 4
    assert y.tolist() == [4] * 4
    graph.replay()
    graph.replay()
    assert y.tolist() == [8] * 4


def test_a_replay_computes_with_the_values_of_its_static_input():
    x = torch.zeros(3, 5, device=DEVICE)
    weight = torch.randn(5, 2)
    moved = weight.to(DEVICE)
    graph, y = capture(lambda: (x @ moved).relu().sum(0))
    address = y.data_ptr()
    for _ in range(3):
        value = torch.randn(3, 5)
        x.copy_(value)
        graph.replay()
        same(y, (value @ weight).relu().sum(0))
        assert y.data_ptr() == address


@pytest.mark.needs(capability="hold")
def test_a_replay_returns_before_its_kernels_have_run():
    x = ones(4)
    graph, y = capture(lambda: x + 1)
    stream = torch.Stream(DEVICE)
    y.zero_()
    torch.accelerator.synchronize()
    with hold(stream), stream:
        graph.replay()
        assert not stream.query()
    stream.synchronize()
    assert y.tolist() == [2] * 4


def test_work_before_and_after_a_replay_keeps_its_order():
    x = ones(4)
    graph, y = capture(lambda: x * 10)
    results = []
    for value in range(1, 6):
        x.fill_(value)
        graph.replay()
        results.append(y + 1)
    assert [r[0].item() for r in results] == [11, 21, 31, 41, 51]


@pytest.mark.needs(capability="hold")
def test_replays_on_other_streams_run_one_after_the_other():
    x = torch.zeros(1, device=DEVICE)
    graph, _ = capture(lambda: x.add_(1))
    streams = [torch.Stream(DEVICE) for _ in range(3)]
    with hold(streams[0]):
        for stream in streams:
            with stream:
                graph.replay()
        assert not streams[2].query()  # waits for the replay on the first
    torch.accelerator.synchronize()
    assert x.item() == 3


def test_the_capture_may_be_on_the_default_stream():
    x = ones(2)
    graph = Graph()
    with graph:
        assert torch.openreg.is_current_stream_capturing()
        y = x + 1
    assert not torch.openreg.is_current_stream_capturing()
    graph.replay()
    assert y.tolist() == [2, 2]


def test_on_the_second_device():
    torch.openreg.set_device(1)
    x = torch.ones(2, device="openreg:1")
    graph, y = capture(lambda: x + 1, stream=torch.Stream("openreg:1"))
    torch.openreg.set_device(0)
    graph.replay()  # on its own device, whichever is current
    torch.accelerator.synchronize(1)
    assert y.tolist() == [2, 2]
    assert torch.openreg.current_device() == 0


def test_an_empty_capture_warns_and_can_be_replayed():
    with pytest.warns(UserWarning, match="the graph is empty: .*nothing was launched"):
        graph, _ = capture(lambda: None)
    graph.replay()
    torch.accelerator.synchronize()


def test_copies_of_pinned_memory_are_replayed():
    x = torch.zeros(4, device=DEVICE)
    into = torch.zeros(4).pin_memory()
    out = torch.zeros(4).pin_memory()

    def body():
        x.copy_(into, non_blocking=True)
        x.mul_(2)
        out.copy_(x, non_blocking=True)

    graph, _ = capture(body)
    for value in (3.0, 5.0):
        into.fill_(value)
        graph.replay()
        torch.accelerator.synchronize()
        assert out.tolist() == [2 * value] * 4


def test_what_is_a_number_on_the_host_is_part_of_the_graph():
    x, factor, scalar = ones(2), 3, torch.tensor(5.0)
    graph, y = capture(lambda: x * factor + scalar)
    factor = 4
    scalar.fill_(100)
    graph.replay()
    assert y.tolist() == [8, 8]


def test_keep_graph_instantiates_when_asked_or_at_the_first_replay():
    x = ones(2)
    graph, y = capture(lambda: x + 1, keep_graph=True)
    graph.instantiate()
    graph.instantiate()
    graph.replay()
    assert y.tolist() == [2, 2]
    graph, y = capture(lambda: x + 2, keep_graph=True)
    graph.replay()
    assert y.tolist() == [3, 3]
    graph, _ = capture(lambda: x + 3)
    with pytest.raises(RuntimeError, match=r"keep_graph=True: capture_end.* already"):
        graph.instantiate()


# -- networks --


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        # Without a bias: in front of a batch norm its gradient is rounding noise, which
        # Adam scales to whole steps.
        nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
        nn.Linear(64, 3),
    )  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: torch.optim.Adam(p, lr=0.01, capturable=True),
        lambda p: torch.optim.AdamW(p, lr=0.01, capturable=True, foreach=False),
    ],
    ids=["SGD", "Adam", "AdamW"],
)
def test_a_whole_training_step_equals_eager(make):
    batches = [(torch.randn(6, 1, 6, 6), torch.randint(3, (6,))) for _ in range(6)]

    def step(net, optimizer, x, target):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    eager = network().to(DEVICE)
    optimizer = make(eager.parameters())
    expected = [
        step(eager, optimizer, x.to(DEVICE), t.to(DEVICE)).item() for x, t in batches
    ]

    net = network().to(DEVICE)
    optimizer = make(net.parameters())
    x, target = (t.to(DEVICE) for t in batches[0])
    side = torch.Stream(DEVICE)
    side.wait_stream(torch.accelerator.current_stream())
    with side:  # warm up, with the first batches
        losses = []
        for value, label in batches[:2]:
            x.copy_(value)
            target.copy_(label)
            losses.append(step(net, optimizer, x, target).item())
    graph, loss = capture(lambda: step(net, optimizer, x, target), stream=side)
    for value, label in batches[2:]:
        x.copy_(value)
        target.copy_(label)
        graph.replay()
        losses.append(loss.item())
    assert losses == pytest.approx(expected, rel=1e-5)
    for parameter, reference in zip(
        net.state_dict().values(), eager.state_dict().values(), strict=True
    ):
        same(parameter, reference)


def test_a_step_without_warm_up_equals_the_cpu():
    layer = nn.Linear(3, 2).to(DEVICE)
    reference = nn.Linear(3, 2)
    reference.load_state_dict(layer.state_dict())
    x = torch.randn(4, 3)
    static = x.to(DEVICE)

    def body():
        layer(static).square().sum().backward()

    graph, _ = capture(body)
    graph.replay()
    reference(x).square().sum().backward()
    same(layer.weight.grad, reference.weight.grad)
    graph.replay()  # writes the same gradients again
    same(layer.weight.grad, reference.weight.grad)


def test_what_the_first_step_makes_must_be_there_before_the_capture():
    """Without a warm-up each replay starts with new momenta, on every device."""

    def run(steps, captured):
        weight = torch.ones(2, device=DEVICE, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=1.0, momentum=0.5)

        def step():
            optimizer.zero_grad()
            weight.sum().backward()
            optimizer.step()

        if captured:
            graph, _ = capture(step)
            step = graph.replay
        for _ in range(steps):
            step()
        return weight[0].item()

    assert run(1, captured=True) == run(1, captured=False) == 0
    assert run(2, captured=False) == -1.5
    assert run(2, captured=True) == -1


def test_autocast_inside_a_capture():
    layer = nn.Linear(8, 8).to(DEVICE)
    x = torch.randn(2, 8, device=DEVICE)

    def body():
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            return layer(x)

    graph, y = capture(body)
    for _ in range(2):
        x.normal_()
        graph.replay()
        same(y, body())


# -- looking into it --


def test_debug_dump_writes_a_graph_that_graphviz_reads(tmp_path):
    x = ones(2)
    graph = Graph()
    graph.enable_debug_mode()
    with torch.Stream(DEVICE), graph:
        y = (x + 1).relu()
    path = tmp_path / "graph.dot"
    graph.debug_dump(str(path))
    text = path.read_text()
    assert text.startswith("digraph ") and text.endswith("}\n")
    assert re.findall(r'label="(\w+)"', text)[0] == "add"
    assert re.findall(r"(\w+) -> (\w+);", text) == [("task0", "task1")]
    graph.replay()
    assert y.tolist() == [2, 2]
    graph, _ = capture(lambda: x + 1, keep_graph=True)
    graph.debug_dump(str(path))
    with pytest.raises(ValueError, match=r"cannot write '.*/no/file.dot'"):
        graph.debug_dump(str(tmp_path / "no/file.dot"))
    graph, _ = capture(lambda: x + 1)
    with pytest.raises(RuntimeError, match=r"call enable_debug_mode\(\) before"):
        graph.debug_dump(str(path))


def test_a_profile_shows_the_kernels_of_a_replay_and_nothing_of_a_capture():
    from torch.profiler import ProfilerActivity, profile

    x = ones(2)
    both = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]

    def kernels(call):
        with profile(activities=both, acc_events=True) as session:
            result = call()
            torch.accelerator.synchronize()
        device = torch.autograd.DeviceType.PrivateUse1
        events = session.events()
        return result, [e.name for e in events if e.device_type == device]

    (graph, _), seen = kernels(lambda: capture(lambda: (x + 1).relu()))
    assert seen == []
    _, seen = kernels(graph.replay)
    assert seen == ["add", "relu"]


def test_a_warning_of_a_kernel_comes_with_the_replay():
    x = ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph, y = capture(lambda: x / 2)
        graph.replay()
        assert y.tolist() == [0.5, 0.5]

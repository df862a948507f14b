# The simulator's holds, delays and failures, from Python; see docs/runtime/errors.md.
import threading
import time

import pytest
import torch

simulator = torch.openreg.simulator


@pytest.fixture(autouse=True)
def _reset():
    yield
    simulator.reset()


def test_a_held_stream_stands_still():
    x = torch.zeros(4, device="openreg")
    torch.openreg.synchronize()
    stream = torch.accelerator.current_stream()
    with simulator.hold() as held:
        assert held == stream
        x.add_(1)
        assert not stream.query()
        time.sleep(0.01)
        assert not stream.query()
    assert x.tolist() == [1, 1, 1, 1]


def test_other_streams_go_on():
    x = torch.zeros(4, device="openreg")
    torch.openreg.synchronize()
    side = torch.Stream("openreg")
    with simulator.hold(side):
        with side:
            y = torch.ones(4, device="openreg")
        assert (x + 1).tolist() == [1, 1, 1, 1]
        assert not side.query()
    side.synchronize()
    assert y.tolist() == [1, 1, 1, 1]


def test_a_missing_wait_is_noticed():
    """What the simulator is for: without a wait the reader is too early."""
    x = torch.zeros(4, device="openreg")
    torch.openreg.synchronize()
    side = torch.Stream("openreg")
    with simulator.hold(side):
        with side:
            x.add_(1)
        assert x.tolist() == [0, 0, 0, 0]
    torch.accelerator.current_stream().wait_stream(side)
    assert x.tolist() == [1, 1, 1, 1]


def test_holds_nest_and_threads_wait_for_the_release():
    x = torch.zeros(4, device="openreg")
    values = []
    reader = threading.Thread(target=lambda: values.append(x.tolist()))
    with simulator.hold(), simulator.hold():
        x.add_(1)
        reader.start()
        reader.join(0.02)
        assert reader.is_alive()
    reader.join()
    assert values == [[1, 1, 1, 1]]


def test_a_hold_can_be_reset():
    x = torch.zeros(4, device="openreg")
    with simulator.hold():
        x.add_(1)
        simulator.reset()
        assert x.tolist() == [1, 1, 1, 1]


def test_a_hold_of_another_device():
    with simulator.hold(torch.accelerator.current_stream("openreg:1")):
        x = torch.ones(2, device="openreg:1")
        assert torch.ones(2, device="openreg").tolist() == [1, 1]
        assert not torch.accelerator.current_stream("openreg:1").query()
    assert x.tolist() == [1, 1]


def test_delays_nest():
    environment = simulator._get_delay()
    with simulator.delay(3000):
        with simulator.delay(5, seed=2):
            assert simulator._get_delay() == (5, 2)
        x = torch.zeros(4, device="openreg")
        torch.openreg.synchronize()
        start = time.monotonic()
        x.add_(1).add_(1).add_(1)
        torch.openreg.synchronize()
        assert time.monotonic() - start >= 0.009
    assert simulator._get_delay() == environment


def test_a_kernel_fails():
    x = torch.zeros(4, device="openreg")
    simulator.fail_kernel("add", after=1)
    y = x + 1
    assert y.tolist() == [1, 1, 1, 1]
    x + 1
    with pytest.raises(torch.AcceleratorError, match="kernel 'add' on stream 0 failed"):
        torch.openreg.synchronize()
    simulator.reset()
    assert (x + 2).tolist() == [2, 2, 2, 2]


def test_a_kernel_of_a_graph_fails_in_one_replay():
    x = torch.zeros(4, device="openreg")
    graph = torch.accelerator.Graph()
    simulator.fail_kernel("add", after=3)
    with torch.Stream("openreg"), graph:
        y = x + 1 + 2  # launches nothing
    graph.replay()
    torch.openreg.synchronize()
    graph.replay()
    with pytest.raises(torch.AcceleratorError, match="by orSimFailKernel"):
        torch.openreg.synchronize()
    simulator.reset()
    graph.replay()
    torch.openreg.synchronize()
    assert y.tolist() == [3, 3, 3, 3]


def test_any_kernel_fails():
    x = torch.zeros(4, device="openreg:1")
    simulator.fail_kernel()
    x.fill_(1)
    with pytest.raises(torch.AcceleratorError, match="device 1 stopped"):
        x.tolist()


def test_an_allocation_fails():
    torch.accelerator.empty_cache()
    simulator.fail_allocation(100)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(32 << 20, device="openreg")
    simulator.fail_allocation(0)
    torch.empty(32 << 20, device="openreg")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: simulator.hold(torch.Stream("cpu")).__enter__(), ValueError),
        (lambda: simulator.delay(20_000_000).__enter__(), ValueError),
        (lambda: simulator.delay(-1).__enter__(), TypeError),
        (lambda: simulator.fail_kernel("add", -1), ValueError),
        (lambda: simulator.fail_kernel(3), TypeError),
        (lambda: simulator.fail_allocation(-1), ValueError),
    ],
)
def test_wrong_arguments_are_refused(call, error):
    with pytest.raises(error):
        call()


def test_the_environment_delays_a_whole_process(run_forked):
    program = """
        import time, torch
        from torch_openreg import simulator
        x = torch.zeros(4, device="openreg")
        torch.openreg.synchronize()
        start = time.monotonic()
        x.add_(1).add_(1)
        torch.openreg.synchronize()
        print(time.monotonic() - start >= 0.02, simulator._get_delay())
        torch.openreg.simulator.reset()
        print(simulator._get_delay())
    """
    process = run_forked(program, OPENREG_SIM_DELAY="10000:0")
    assert process.stdout == "True (10000, 0)\n(10000, 0)\n", process.stderr

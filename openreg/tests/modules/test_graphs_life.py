# The end of a graph, and graphs over several streams and threads; chapter
# docs/modules/graphs.md.
import gc
import threading

import pytest
import torch
from graphs_support import DEVICE, MIB, Graph, capture, floats, ones, pool_bytes

pytestmark = pytest.mark.usefixtures("no_capture_left")


# -- the end of a graph --


def test_reset_gives_everything_back_and_the_graph_can_be_captured_again():
    graph, y = capture(lambda: floats(30).fill_(2))
    pool = graph.pool()
    graph.replay()
    graph.reset()
    graph.reset()
    assert y[0].item() == 2
    for call in (graph.replay, graph.pool):
        with pytest.raises(RuntimeError, match="without a successful capture"):
            call()
    del y
    torch.accelerator.empty_cache()
    assert pool_bytes(pool) == 0
    with torch.Stream(DEVICE), graph:
        y = ones(2) + 4
    graph.replay()
    assert y.tolist() == [5, 5]


def test_a_graph_may_go_while_its_replay_is_in_flight():
    x = torch.zeros(1 << 18, device=DEVICE)
    stream = torch.Stream(DEVICE)

    def body():
        x.add_(torch.rand(1 << 18, device=DEVICE) * 0 + 1)

    graph, _ = capture(body, stream=stream)
    torch.accelerator.synchronize()
    with torch.openreg.simulator.hold(stream):
        with stream:
            graph.replay()
            graph.replay()
        del graph
        gc.collect()
        others = [torch.full((64,), -1.0, device=DEVICE) for _ in range(20)]
    stream.synchronize()
    torch.accelerator.empty_cache()
    assert (x == 2).all().item()
    assert all((o == -1).all().item() for o in others)


def test_a_graph_that_goes_during_its_capture_ends_it():
    graph, stream = Graph(), torch.Stream(DEVICE)
    with stream:
        graph.capture_begin()
        ones(2)
        pools = set(torch.openreg._C._private_pool_bytes(0))
        del graph
        assert not stream.is_capturing()
        assert (ones(2) + 1).tolist() == [2, 2]
    torch.accelerator.empty_cache()
    assert pool_bytes(max(pools)) == 0


def test_many_graphs_come_and_go():
    x = ones(8)
    torch.accelerator.empty_cache()
    reserved = torch.accelerator.memory_reserved()
    for value in range(50):
        graph, y = capture(lambda value=value: x + value)
        graph.replay()
        assert y[0].item() == 1 + value
    del graph, y
    torch.accelerator.empty_cache()
    assert torch.accelerator.memory_reserved() <= reserved + 2 * MIB


@pytest.mark.parametrize("end", ["", "import os; os._exit(0)", "raise SystemExit(0)"])
def test_a_program_may_end_with_live_graphs(run_forked, end):
    process = run_forked(f"""
        import torch
        x = torch.ones(1000, device="openreg")
        graphs = []
        for _ in range(3):
            graph = torch.accelerator.Graph()
            with torch.Stream("openreg"), graph:
                y = torch.rand(1000, device="openreg") + x
            graphs.append((graph, y))
            graph.replay()
        open_one = torch.accelerator.Graph()
        torch.accelerator.set_stream(torch.Stream("openreg"))
        open_one.capture_begin()
        print("done", flush=True)
        {end}
    """)
    assert (process.returncode, process.stdout) == (0, "done\n"), process.stderr
    assert "Error" not in process.stderr


def test_a_forked_child_can_drop_a_graph(run_forked):
    process = run_forked("""
        import os, torch
        graph = torch.accelerator.Graph()
        with torch.Stream("openreg"), graph:
            x = torch.rand(4, device="openreg")
        pid = os.fork()
        if pid == 0:
            try:
                graph.replay()
            except RuntimeError as error:
                print("child:", "fork" in str(error), flush=True)
            del graph, x
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        graph.replay()
        print("parent:", x.sum().item() > 0)
    """)
    assert process.stdout.split("\n")[:2] == ["child: True", "parent: True"], process


# -- several streams and threads --


def test_forked_streams_join_the_capture():
    x = ones(4)
    main, sides = torch.Stream(DEVICE), [torch.Stream(DEVICE) for _ in range(3)]

    def body():
        start = main.record_event()
        parts = []
        for index, side in enumerate(sides):
            side.wait_event(start)
            with side:
                assert side.is_capturing()
                parts.append(x * (index + 1))
        for side in sides:
            main.wait_stream(side)
        return sum(parts)

    graph, y = capture(body, stream=main)
    assert not any(s.is_capturing() for s in sides)
    for value in (1, 2):
        x.fill_(value)
        graph.replay()
        assert y.tolist() == [6 * value] * 4


def test_a_stream_that_does_not_join_is_named():
    x = ones(4)
    main, side = torch.Stream(DEVICE), torch.Stream(DEVICE)
    end = pytest.raises(torch.AcceleratorError, match="joined the capture, but stream")
    with end, main, Graph():
        side.wait_stream(main)
        with side:
            x + 1
    assert not side.is_capturing()
    with side:
        assert (x + 1).tolist() == [2] * 4


def test_a_capture_over_two_devices():
    x = ones(4)
    near, far = torch.Stream("openreg:0"), torch.Stream("openreg:1")
    far_x = torch.ones(4, device="openreg:1")

    def body():
        far.wait_stream(near)
        with far:
            y = far_x * 2 + 1
        near.wait_stream(far)
        return x + 1, y

    graph, (a, b) = capture(body, stream=near)
    with torch.openreg.device(1):
        assert torch.openreg.memory_snapshot(graph.pool())  # of both devices
        others = [torch.zeros(4, device="openreg:1") for _ in range(50)]
    far_x.fill_(5)
    torch.accelerator.synchronize(1)
    with torch.profiler.profile() as prof:
        graph.replay()
        torch.accelerator.synchronize(0)
    # The stream that replays runs all of it, whosever device it is.
    places = {e.name: e.device_index for e in prof.events() if "::" not in e.name}
    assert (places["mul"], places["add"]) == (0, 0)
    assert (a.tolist(), b.tolist()) == ([2] * 4, [11] * 4)
    assert all(other.tolist() == [0] * 4 for other in others)


def test_two_threads_capture_and_replay_at_the_same_time():
    x = ones(1000)
    torch.accelerator.synchronize()
    errors = []
    ready = threading.Barrier(4)

    def run(index):
        try:
            # `with graph:` waits for the device and so invalidates the other captures.
            graph = Graph(capture_error_mode="relaxed")
            with torch.Stream(DEVICE):
                ready.wait()
                graph.capture_begin()
                y = x
                for _ in range(50):
                    y = y + index
                graph.capture_end()
                ready.wait()
                for _ in range(5):
                    graph.replay()
                    assert y.unique().tolist() == [1 + 50 * index]
        except BaseException as error:
            errors.append(error)
            ready.abort()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_another_thread_works_eagerly_while_a_capture_goes_on():
    x = ones(100)
    stop, results = threading.Event(), []

    def work():
        with torch.Stream(DEVICE) as stream:
            while not stop.is_set():
                y = x + 1
                stream.synchronize()
                results.append(y[0].item())

    thread = threading.Thread(target=work)
    graph = Graph(capture_error_mode="thread_local")
    with torch.Stream(DEVICE), graph:
        thread.start()
        y = x + 0
        while len(results) < 20:
            y = y + 0
        stop.set()
        thread.join()
    graph.replay()
    assert set(results) == {2}
    assert y[0].item() == 1

# What a graph cannot hold, modes of a capture, faults; chapter docs/modules/graphs.md.
import threading

import pytest
import torch
from graphs_support import DEVICE, Graph, capture, ones, refused

pytestmark = pytest.mark.usefixtures("no_capture_left")


@pytest.fixture(autouse=True)
def _simulator_is_reset(no_capture_left):
    yield
    torch.openreg.simulator.reset()


CALLS = {
    "item": (lambda x, e: x[0].item(), r"item\(\) cannot be in a graph"),
    "bool": (lambda x, e: bool(x[0] > 0), r"item\(\) cannot be in a graph"),
    "tolist": (lambda x, e: x.tolist(), "copy_ between host and device"),
    "cpu": (lambda x, e: x.cpu(), "copy_ between host and device"),
    "numpy": (lambda x, e: x.numpy(force=True), "copy_ between host and device"),
    "print": (lambda x, e: repr(x), "cannot be in a graph"),
    "to": (lambda x, e: torch.ones(2).to(DEVICE), "copy_ between host and device"),
    "tensor": (lambda x, e: torch.tensor([1], device=DEVICE), "copy_ between host"),
    "fallback": (lambda x, e: x.hypot(x), "aten::hypot.out cannot be in a graph"),
    "factory": (
        lambda x, e: torch.tril_indices(3, 3, device=DEVICE),
        "aten::tril_indices cannot be in a graph",
    ),
    "nonzero": (lambda x, e: x.nonzero(), r"item\(\) cannot .* as it does .*nonzero"),
    "synchronize": (
        lambda x, e: torch.accelerator.synchronize(),
        r"orDeviceSynchronize\(\).* would wait for a device",
    ),
    "stream.synchronize": (
        lambda x, e: torch.accelerator.current_stream().synchronize(),
        r"orStreamSynchronize\(\).* queries or waits for a stream that is capturing",
    ),
    "stream.query": (
        lambda x, e: torch.accelerator.current_stream().query(),
        r"orStreamQuery\(\).* queries or waits for a stream that is capturing",
    ),
    "event.query": (
        lambda x, e: (e.record(), e.query()),
        r"orEventQuery\(\).* recorded in a capture",
    ),
    "event.synchronize": (
        lambda x, e: (e.record(), e.synchronize()),
        r"orEventSynchronize\(\).* recorded in a capture",
    ),
    "wait for an event from outside": (
        lambda x, e: torch.accelerator.current_stream().wait_event(e),
        r"orStreamWaitEvent\(\).* an event recorded outside",
    ),
    "manual_seed": (lambda x, e: torch.openreg.manual_seed(1), "manual_seed of a gen"),
    "set_rng_state": (
        lambda x, e: torch.openreg.set_rng_state(torch.zeros(16, dtype=torch.uint8)),
        "set_state of a generator cannot be in a graph",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_no_graph_can_hold_is_named(name):
    call, message = CALLS[name]
    x, event = ones(4), torch.Event(DEVICE)
    event.record()
    refused(lambda: call(x, event), message)


def test_a_copy_of_memory_that_is_not_pinned_is_refused_whatever_is_asked():
    x, host = ones(4), torch.zeros(4)
    pinned = torch.zeros(8).pin_memory()
    for call in (
        lambda: x.copy_(host, non_blocking=True),
        lambda: host.copy_(x, non_blocking=True),
        lambda: x.copy_(pinned[:4]),  # would wait
        lambda: x.copy_(pinned[::2], non_blocking=True),  # the host would gather it
        lambda: pinned[::2].copy_(x, non_blocking=True),
    ):
        refused(call, "copy_ between host and device cannot be in a graph")


def test_after_a_refusal_every_launch_fails_that_the_driver_would_record():
    x = ones(4)
    graph = Graph()
    end = pytest.raises(torch.AcceleratorError, match=r"orStreamQuery\(\) queries or")
    with end, torch.Stream(DEVICE) as stream, graph:
        with pytest.raises(torch.AcceleratorError, match="capturing"):
            stream.query()
        with pytest.raises(torch.AcceleratorError, match="was invalidated: orStreamQ"):
            x + 1


def test_a_capture_inside_a_capture_is_refused():
    inner = Graph()

    def nest():
        with inner:
            pass

    refused(nest, r"orDeviceSynchronize\(\)")  # the first thing that `with` does
    x, outer = ones(2), Graph()
    with torch.Stream(DEVICE), outer:
        y = x + 1
        with pytest.raises(torch.AcceleratorError, match="is capturing already"):
            inner.capture_begin()  # leaves the outer one as it is
        y = y + 1
    outer.replay()
    assert y.tolist() == [3, 3]
    graph, z = capture(lambda: x + 1)
    graph.replay()
    assert z.tolist() == [2, 2]


def test_a_replay_inside_a_capture_is_refused():
    x = ones(2)
    other, _ = capture(lambda: x + 1)
    refused(other.replay, r"replay\(\) of another graph cannot be in a graph")


def test_calls_in_the_wrong_order_say_what_is_missing():
    graph, x = Graph(), ones(2)
    for call in (graph.replay, graph.pool, graph.instantiate):
        with pytest.raises(RuntimeError, match="without a successful capture"):
            call()
    with pytest.raises(RuntimeError, match="without a successful capture"):
        graph.debug_dump("nowhere.dot")
    with pytest.raises(RuntimeError, match=r"without a capture_begin\(\)"):
        graph.capture_end()
    graph.reset()  # nothing to do
    with torch.Stream(DEVICE):
        graph.capture_begin()
        for call in (graph.replay, graph.pool):
            with pytest.raises(RuntimeError, match=r"call capture_end\(\) first"):
                call()
        for call in (graph.capture_begin, graph.reset):
            with pytest.raises(RuntimeError, match=r"being captured: call capture_end"):
                call()
        y = x + 1
        graph.capture_end()
    with pytest.raises(RuntimeError, match=r"was captured: call reset\(\) first"):
        graph.capture_begin()
    graph.replay()
    assert y.tolist() == [2, 2]


def test_the_end_belongs_to_the_stream_of_the_begin():
    graph, x = Graph(), ones(2)
    first, second = torch.Stream(DEVICE), torch.Stream(DEVICE)
    with first:
        graph.capture_begin()
        x + 1
    with second, pytest.raises(torch.AcceleratorError, match="stream is not the one"):
        graph.capture_end()
    assert not first.is_capturing()


def test_an_exception_of_the_program_leaves_what_was_captured_before_it():
    x, graph = ones(2), Graph()
    with pytest.raises(KeyError), torch.Stream(DEVICE), graph:
        x.add_(1)
        raise KeyError
    graph.replay()  # torch does not tell the backend about the exception
    assert x.tolist() == [2, 2]


# -- modes --


def in_a_thread(call):
    results = []

    def run():
        try:
            results.append(call())
        except torch.AcceleratorError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


@pytest.mark.parametrize("mode", ["default", "global"])
def test_the_default_mode_forbids_waiting_to_every_thread(mode):
    x, graph = ones(2), Graph(capture_error_mode=mode)
    end = pytest.raises(torch.AcceleratorError, match="would wait for the device")
    with end, torch.Stream(DEVICE), graph:
        assert "would wait" in str(in_a_thread(lambda: x.tolist()))


@pytest.mark.parametrize("mode", ["thread_local", "relaxed"])
def test_other_modes_leave_other_threads_alone(mode):
    x = ones(2)
    graph, y = capture(lambda: (in_a_thread(x.tolist), x + 1), capture_error_mode=mode)
    assert y[0] == [1, 1]
    graph.replay()
    assert y[1].tolist() == [2, 2]


def test_the_relaxed_mode_lets_the_own_thread_wait_for_other_streams():
    x = ones(2)
    other = torch.Stream(DEVICE)
    with other:
        event = other.record_event()
    graph, y = capture(
        lambda: (event.synchronize(), x + 1)[1], capture_error_mode="relaxed"
    )
    graph.replay()
    assert y.tolist() == [2, 2]
    refused(
        lambda: torch.accelerator.synchronize(),
        "a device with a capturing stream",
        capture_error_mode="relaxed",
    )
    refused(event.synchronize, "would wait", capture_error_mode="thread_local")


def test_a_second_graph_that_is_entered_waits_and_so_invalidates_the_first():
    x, entered = ones(2), threading.Event()

    def enter():
        with torch.Stream(DEVICE), Graph(capture_error_mode="relaxed"):
            entered.set()

    end = pytest.raises(torch.AcceleratorError, match="orDeviceSynchronize")
    with end, torch.Stream(DEVICE), Graph(capture_error_mode="relaxed"):
        x + 1
        assert "orDeviceSynchronize" in str(in_a_thread(enter))
    assert not entered.is_set()


def test_a_mode_that_does_not_exist_is_refused():
    graph = Graph(capture_error_mode="lenient")
    with pytest.raises(RuntimeError, match="lenient"), torch.Stream(DEVICE):
        graph.capture_begin()


# -- faults --


def test_a_kernel_that_fails_in_a_replay_is_reported_and_the_graph_survives():
    table, index = ones(3, 2), torch.zeros(2, dtype=torch.int64, device=DEVICE)
    graph, y = capture(lambda: table.index_select(0, index))
    index.fill_(7)
    graph.replay()
    with pytest.raises(torch.AcceleratorError, match="index_select"):
        torch.accelerator.synchronize()
    with pytest.raises(torch.AcceleratorError, match="index_select"):
        graph.replay()
    torch.openreg.simulator.reset()
    index.fill_(1)
    graph.replay()
    assert y.tolist() == [[1, 1], [1, 1]]


def test_a_device_with_a_fault_starts_no_capture():
    x, graph = ones(2), Graph()
    torch.openreg.simulator.fail_kernel("add")
    x + 1
    with pytest.raises(torch.AcceleratorError, match="'add'"):
        torch.accelerator.synchronize()
    with torch.Stream(DEVICE), pytest.raises(torch.AcceleratorError, match="'add'"):
        graph.capture_begin()


def test_torch_accelerator_has_nothing_more_than_the_class():
    # Then the limits on the page, and the table of the accelerator API, tell more.
    assert torch.accelerator.graphs.__all__ == ["Graph"]
    assert not hasattr(torch.accelerator, "make_graphed_callables")
    assert hasattr(torch.cuda, "make_graphed_callables")
    assert hasattr(torch.xpu, "make_graphed_callables")

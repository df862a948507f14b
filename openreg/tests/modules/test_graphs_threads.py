# Other threads while a capture begins and lasts; see docs/modules/graphs-capture.md.
"""Allocators of other threads invalidate no capture, and put nothing into it."""

import sys
import threading

import pytest
import torch
import torch.distributed._symmetric_memory as symm_mem
from graphs_support import DEVICE, MIB, Graph, capture, floats, ones
from peer import Peer

openreg = torch.openreg
CAPTURES = 20_000


@pytest.fixture(autouse=True)
def _eager_switches():
    """Let Python's threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def _free_what_the_stream_uses(stream):
    # The free records an event on the stream. It waits while a capture lasts: on a busy
    # machine, larger tensors would fill the device meanwhile.
    torch.empty(1, device=DEVICE).record_stream(stream)


def _empty_the_cache(stream):
    floats(2)
    torch.accelerator.empty_cache()


def _empty_the_cache_of_pinned_memory(stream):
    torch.empty(MIB, pin_memory=True)
    torch.accelerator.empty_host_cache()


@pytest.mark.parametrize(
    "act",
    [
        _free_what_the_stream_uses,
        _empty_the_cache,
        _empty_the_cache_of_pinned_memory,
    ],
)
def test_no_capture_begins_between_a_check_and_a_call_of_the_driver(act):
    stream, x, errors, stop = torch.Stream(DEVICE), ones(3), [], threading.Event()

    def work():
        try:
            while not stop.is_set():
                act(stream)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(CAPTURES):
            with stream, Graph():
                x + 1
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []


def keep(state, x):
    state["x"] = x
    return x.sum().item()


def give(state):
    return state.pop("x")


def collect(state):
    openreg.ipc_collect()
    return openreg.memory_allocated()


def make(state):
    state["x"] = torch.ones(MIB, device=DEVICE)


def test_received_memory_that_is_dropped_in_a_capture_goes_back_after_it():
    peer = Peer()
    try:
        before = peer.ask(collect)
        peer.ask(make)
        received = [peer.ask(give)]
        assert received[0].sum().item() == MIB
        assert peer.ask(collect) == before + 4 * MIB
        x, stream = ones(3), torch.Stream(DEVICE)

        def body():
            received.clear()
            assert peer.ask(collect) == before + 4 * MIB  # put off
            return x + 1

        graph, y = capture(body, stream)
        assert peer.ask(collect) == before
        graph.replay()
        assert y.tolist() == [2, 2, 2]
    finally:
        peer.close()


@pytest.mark.parametrize("where", ["captured", "another"])
def test_symmetric_memory_that_is_dropped_in_a_capture_goes_back_after_it(where):
    openreg.empty_cache()
    before = openreg.mem_get_info(0)[0]
    kept = [symm_mem.empty(16 * MIB, device=DEVICE)]
    x = ones(3)

    def body():
        if where == "captured":
            kept.clear()
        else:
            thread = threading.Thread(target=kept.clear)
            thread.start()
            thread.join()
        return x + 1

    graph, y = capture(body)
    graph.replay()
    assert y.tolist() == [2, 2, 2]
    assert openreg.mem_get_info(0)[0] >= before - 4 * MIB  # the pools, and no more


def test_memory_of_a_second_device_is_freed_behind_the_replay_that_uses_it():
    side, stream = torch.Stream("openreg:1"), torch.Stream("openreg:0")
    x = torch.ones(32 * MIB, dtype=torch.uint8, device="openreg:1")
    graph = Graph()
    with stream, graph:
        side.wait_stream(stream)
        with side:
            y = x + 1  # a segment of the pool, which goes with the graph
            z = y * 2
        stream.wait_stream(side)
    del y
    torch.accelerator.synchronize(1)
    with openreg.simulator.hold(stream):
        with stream:
            graph.replay()
        result = []
        waiting = threading.Thread(
            target=lambda: (graph.reset(), openreg.empty_cache(), result.append(1))
        )
        waiting.start()
        waiting.join(0.2)
        assert result == []  # the pool of the graph is in use
    waiting.join()
    assert (z == 4).all()

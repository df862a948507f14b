# The memory of graphs: pools, statistics, pinned memory; chapter
# docs/modules/graphs.md.
import gc
import threading

import pytest
import torch
from graphs_support import (
    DEVICE,
    MIB,
    Graph,
    capture,
    floats,
    ones,
    pool_bytes,
    refused,
)

memory = torch.openreg.memory


pytestmark = pytest.mark.usefixtures("no_capture_left")


# -- memory of a graph --


def test_memory_of_a_capture_comes_from_a_pool_of_the_graph():
    x = ones(4)
    graph, y = capture(lambda: (floats(30), x + 1)[1])
    (small, large) = sorted(
        memory.memory_snapshot(graph.pool()), key=lambda s: s["total_size"]
    )
    assert large["total_size"] == 30 * MIB and large["allocated_size"] == 0
    assert small["address"] <= y.data_ptr() < small["address"] + small["total_size"]
    assert pool_bytes(graph.pool()) == small["total_size"] + large["total_size"]
    assert graph.pool()[0] > 0 and graph.pool()[1] == 0
    assert capture(lambda: x + 1)[0].pool() != graph.pool()


def test_nobody_else_gets_what_a_graph_needs_only_while_it_runs():
    x = ones(MIB)
    graph, y = capture(lambda: (x * 2 + 1).sum())  # the product is freed in the capture
    torch.accelerator.empty_cache()
    others = [torch.zeros(MIB, device=DEVICE) for _ in range(10)]
    graph.replay()
    assert y.item() == 3 * MIB
    assert all(other.sum().item() == 0 for other in others)


def test_a_result_that_dies_leaves_the_graph_its_memory():
    x = ones(4)
    graph, y = capture(lambda: x.add_(1).mul(2))
    address = y.data_ptr()
    del y
    others = [ones(4) for _ in range(200)]
    assert address not in {t.data_ptr() for t in others}
    graph.replay()
    assert x.tolist() == [2] * 4
    assert all(t.tolist() == [1] * 4 for t in others)


def test_a_graph_that_goes_gives_its_memory_back_and_results_survive_it():
    x = ones(4)
    graph, (y, _) = capture(lambda: (x + 1, floats(30).fill_(0)))
    pool = graph.pool()
    graph.replay()
    del graph
    assert pool_bytes(pool) > 30 * MIB  # `_` has it still
    del _
    torch.accelerator.empty_cache()
    assert 0 < pool_bytes(pool) < 30 * MIB
    assert y.tolist() == [2] * 4
    del y
    torch.accelerator.empty_cache()
    assert pool_bytes(pool) == 0


def test_statistics_are_there_during_a_capture():
    seen = {}

    def body():
        before = torch.accelerator.memory_allocated()
        kept = floats(30)
        seen["allocated"] = torch.accelerator.memory_allocated() - before
        seen["private"] = sum(
            value
            for name, value in memory.memory_stats().items()
            if "private_pools" in name and name.endswith(".all.current")
        )
        seen["free"] = torch.accelerator.get_memory_info()[0]
        torch.accelerator.reset_peak_memory_stats()
        return kept.fill_(1)

    graph, _ = capture(body)
    assert seen["allocated"] == 30 * MIB
    assert seen["private"] >= pool_bytes(graph.pool()) == 30 * MIB
    assert 0 < seen["free"] < 8 << 30


def test_emptying_a_cache_does_nothing_while_a_capture_goes_on():
    x, pinned = ones(MIB), torch.ones(MIB).pin_memory()
    side = torch.Stream(DEVICE)
    with side:
        floats(30)  # a segment in the cache
    side.synchronize()
    del pinned
    host = memory.host_memory_stats()["allocations.current"]

    def body():
        reserved = torch.accelerator.memory_reserved()
        torch.accelerator.empty_cache()
        torch.accelerator.empty_host_cache()
        assert torch.accelerator.memory_reserved() == reserved
        return x + 1

    graph = Graph()
    with torch.Stream(DEVICE):  # not `with graph:`, which empties them itself
        graph.capture_begin()
        y = body()
        graph.capture_end()
    assert memory.host_memory_stats()["allocations.current"] == host > 0
    graph.replay()
    assert y[0].item() == 2
    torch.accelerator.empty_host_cache()
    assert memory.host_memory_stats()["allocations.current"] == 0


def test_memory_that_runs_out_in_a_capture_is_reported_and_the_stream_is_free_again():
    x, graph = ones(2), Graph()
    stream = torch.Stream(DEVICE)
    with pytest.raises(torch.OutOfMemoryError), stream, graph:
        y = x + 1
        floats(9000)
    assert not stream.is_capturing()
    graph.replay()  # what came before the exception
    assert y.tolist() == [2, 2]


def test_a_block_used_by_a_second_captured_stream_is_not_reused_in_the_capture():
    side = torch.Stream(DEVICE)
    stream = torch.Stream(DEVICE)

    def body():
        x = floats(3)
        side.wait_stream(stream)
        with side:
            y = x.fill_(1) + 1
        x.record_stream(side)
        address = x.data_ptr()
        del x
        assert floats(3).data_ptr() != address
        stream.wait_stream(side)
        return y

    graph, y = capture(body, stream=stream)
    graph.replay()
    assert y.min().item() == y.max().item() == 2


def test_an_invalidated_capture_leaves_no_memory_behind():
    pools = set(torch.openreg._C._private_pool_bytes(0))
    for _ in range(3):
        refused(lambda: (floats(30), ones(1).item()), "item")
    gc.collect()
    torch.accelerator.empty_cache()
    for pool in set(torch.openreg._C._private_pool_bytes(0)) - pools:
        assert pool_bytes(pool) == 0


# -- pinned memory --


def test_pinned_memory_of_a_capture_stays_with_the_graph():
    x = ones(4)
    graph, host = capture(lambda: (x * 3).to("cpu", non_blocking=True))
    assert host.is_pinned()
    graph.replay()
    torch.accelerator.synchronize()
    assert host.tolist() == [3] * 4
    address = host.data_ptr()
    del host
    others = [torch.zeros(4).pin_memory() for _ in range(50)]
    assert address not in {t.data_ptr() for t in others}
    graph.replay()
    torch.accelerator.synchronize()
    assert all(t.tolist() == [0] * 4 for t in others)


def test_pinned_memory_that_a_capture_used_is_never_reused():
    x = ones(4)
    graph, host = capture(lambda: (x * 3).to("cpu", non_blocking=True))
    address = host.data_ptr()
    del host, graph
    torch.accelerator.empty_host_cache()
    others = [torch.zeros(4).pin_memory() for _ in range(50)]
    assert address not in {t.data_ptr() for t in others}


def test_pinning_copies_once_while_the_capture_goes_on():
    x, host = torch.zeros(2, device=DEVICE), torch.ones(2)

    def body():
        pinned = host.pin_memory()
        x.copy_(pinned, non_blocking=True)
        return pinned

    graph, pinned = capture(body)
    host.fill_(5)
    graph.replay()
    assert x.tolist() == [1, 1]  # not what `host` says now
    pinned.fill_(7)
    graph.replay()
    assert x.tolist() == [7, 7]


def test_pinned_memory_that_dies_in_a_capture_invalidates_nothing():
    x = torch.zeros(1 << 16, device=DEVICE)
    pinned = torch.ones(1 << 16).pin_memory()
    torch.accelerator.synchronize()
    graph = Graph(capture_error_mode="thread_local")
    got = []
    with torch.Stream(DEVICE), graph:
        x.copy_(pinned, non_blocking=True)
        address = pinned.data_ptr()
        del pinned
        pin = threading.Thread(
            target=lambda: got.append(torch.ones(1 << 16).pin_memory())
        )
        pin.start()  # looks which blocks have become free
        pin.join()
    assert got[0].data_ptr() != address


# -- pools that graphs share --


@pytest.mark.parametrize("of", ["graph", "handle", "MemPool"])
def test_graphs_that_share_a_pool_share_what_dies_in_a_capture(of):
    mempool = memory.MemPool()
    x = ones(MIB)
    first = Graph(
        pool={
            "graph": None,
            "handle": memory.graph_pool_handle(),
            "MemPool": mempool.id,
        }[of]
    )
    with torch.Stream(DEVICE) as stream, first:
        y = (x * 2).sum()
    reserved = pool_bytes(first.pool())
    second = Graph(pool=first.pool())
    with stream, second:
        z = (x * 3).sum()
    assert second.pool() == first.pool()
    assert pool_bytes(first.pool()) == reserved  # the product lies where the first did
    assert y.data_ptr() != z.data_ptr()
    for _ in range(2):
        first.replay()
        second.replay()
        assert (y.item(), z.item()) == (2 * MIB, 3 * MIB)
    pool = first.pool()
    del first
    second.replay()
    assert z.item() == 3 * MIB
    assert pool_bytes(pool) == reserved


def test_a_handle_can_be_used_again_after_its_graphs():
    handle = torch.openreg.graph_pool_handle()
    assert handle != torch.openreg.graph_pool_handle()
    graph = Graph(pool=handle)
    for value in range(3):
        with torch.Stream(DEVICE), graph:
            x = torch.full((2,), value, device=DEVICE)
        graph.replay()
        assert x.tolist() == [value] * 2
        assert graph.pool() == handle
        graph.reset()
        del x
        torch.accelerator.empty_cache()
        assert pool_bytes(handle) == 0


def test_the_pool_of_a_graph_that_is_gone_is_refused():
    graph, _ = capture(lambda: ones(2))
    pool = graph.pool()
    del graph, _
    with pytest.raises(ValueError, match=r"the pool \(\d+, 0\) no longer exists"):
        capture(lambda: ones(2), pool=pool)
    assert not torch.openreg.is_current_stream_capturing()


def test_two_captures_cannot_fill_one_pool_at_the_same_time():
    handle = torch.openreg.graph_pool_handle()
    first, second = Graph(pool=handle), Graph(pool=handle)
    stream = torch.Stream(DEVICE)
    with torch.Stream(DEVICE), first:
        x = ones(2)
        with stream, pytest.raises(RuntimeError, match="already recording"):
            second.capture_begin()
        assert not stream.is_capturing()
    first.replay()
    assert x.tolist() == [1, 1]

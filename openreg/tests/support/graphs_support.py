# What the tests of graphs share; see docs/modules/graphs.md.
import pytest
import torch

DEVICE = "openreg"
MIB = 1 << 20
Graph = torch.accelerator.Graph


def capture(body, stream=None, **options):
    """The graph of what `body` launches, and what it returned."""
    graph = Graph(**options)
    with stream or torch.Stream(DEVICE), graph:
        result = body()
    return graph, result


def ones(*sizes, **options):
    return torch.ones(*sizes, device=DEVICE, **options)


def floats(mib):
    """So many MiB of memory, which hold anything."""
    return torch.empty(mib * MIB // 4, device=DEVICE)


def pool_bytes(pool, counter="current"):
    """What the driver has given to the pool of a graph."""
    name = f"reserved_bytes_by_private_pools.{pool[0]}_{pool[1]}.all.{counter}"
    return torch.openreg.memory_stats().get(name, 0)


def refused(call, message, ends_with=None, stream=None, **options):
    """`call` is refused with these words, and so is the end of the capture."""
    graph = Graph(**options)
    stream = stream or torch.Stream(DEVICE)
    at_end = pytest.raises(torch.AcceleratorError, match=ends_with or message)
    at_once = pytest.raises(torch.AcceleratorError, match=message)
    with at_end as end, stream, graph, at_once as refusal:
        call()
    assert 'see "Errors of graphs" in the guide' in str(refusal.value)
    assert "capture_end(): there is no graph: " in str(end.value)
    # Everything can be used as before.
    assert not stream.is_capturing()
    with stream:
        x = ones(2) + 1
    torch.accelerator.synchronize()
    assert x.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"replay.* without a successful capture"):
        graph.replay()
    with stream, graph:  # also the graph itself
        y = x + 1
    graph.replay()
    assert y.tolist() == [3, 3]

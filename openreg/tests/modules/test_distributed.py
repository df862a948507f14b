# Collectives give what Gloo gives on the CPU; see docs/modules/distributed.md.
import itertools

import pytest
import torch
import torch.distributed as dist
from contract import code, table
from ranks import Ranks

openreg = torch.openreg


@pytest.fixture(scope="module", params=[2, 4])
def ranks(request, tmp_path_factory):
    group = Ranks(
        request.param, tmp_path_factory.mktemp("group"), "cpu:gloo,openreg:occl"
    )
    yield group
    group.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    group = Ranks(2, tmp_path_factory.mktemp("two"))  # found by the device
    yield group
    group.close()


# -- what the ranks do --

OPS = ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]
DTYPES = [
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16),
    *(torch.complex64, torch.complex128),
    *(torch.int8, torch.uint8, torch.bool, torch.int16, torch.int32, torch.int64),
]


def mine(dtype, *shape, seed=0):
    """Return different numbers on every rank, exact in all dtypes."""
    generator = torch.Generator().manual_seed(100 * seed + dist.get_rank())
    return torch.randint(0, 4, shape, generator=generator).to(dtype)


def all_reduce(x, op):
    dist.all_reduce(x, op)
    return [x]


def all_reduce_many(x, op):
    with dist._coalescing_manager():
        y = x * 2
        dist.all_reduce(x, op)
        dist.all_reduce(y, op)
    return [x, y]


def reduce(x, op):
    dist.reduce(x, dist.get_world_size() - 1, op)
    return [x] if dist.get_rank() == dist.get_world_size() - 1 else []


def reduce_scatter(x, op):
    parts = [x + i for i in range(dist.get_world_size())]
    dist.reduce_scatter(x, parts, op)
    return [x]


def reduce_scatter_tensor(x, op):
    whole = torch.cat([x + i for i in range(dist.get_world_size())])
    dist.reduce_scatter_tensor(x, whole, op)
    return [x]


REDUCTIONS = [
    all_reduce,
    all_reduce_many,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
]


def attempt(function, x, op):
    try:
        return [y.cpu() for y in function(x, op)]
    except (RuntimeError, TypeError, ValueError):
        return None


def compare_reductions(state, name):
    """Return the pairs of dtype and operation which work, after comparing with Gloo."""
    function = globals()[name]
    good = []
    for dtype, op in itertools.product(DTYPES, OPS):
        if name != "all_reduce" and dtype not in (torch.float32, torch.int64):
            continue
        x = mine(dtype, 2, 3)
        kind = getattr(dist.ReduceOp, op)
        there = attempt(function, x.to("openreg"), kind)
        here = attempt(function, x.clone(), kind)
        assert (there is None) == (here is None), (dtype, op)
        if here is not None:
            torch.testing.assert_close(there, here, rtol=0, atol=0)
            good.append((str(dtype), op))
    return good


def broadcast(x, size):
    dist.broadcast(x, size - 1)
    return [x]


def all_gather(x, size):
    out = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(out, x)
    return out


def all_gather_into_tensor(x, size):
    out = x.new_empty(size * x.shape[0], *x.shape[1:])
    dist.all_gather_into_tensor(out, x)
    return [out]


def all_gather_many(x, size):
    out = [[torch.empty_like(x), x.new_empty(1)] for _ in range(size)]
    dist.all_gather_coalesced(out, [x, x.flatten()[:1].clone()])
    return [y for of_rank in out for y in of_rank]


def gather(x, size):
    out = [torch.empty_like(x) for _ in range(size)] if dist.get_rank() == 1 else None
    dist.gather(x, out, dst=1)
    return out or []


def scatter(x, size):
    parts = [(x + i).to(x.dtype) for i in range(size)]
    parts = parts if dist.get_rank() == 1 else None
    dist.scatter(x, parts, src=1)
    return [x]


def all_to_all(x, size):
    parts = [(x + i).to(x.dtype) for i in range(size)]
    out = [torch.empty_like(part) for part in parts]
    dist.all_to_all(out, parts)
    return out


def all_to_all_single(x, size):
    rows = x.repeat(size, 1)
    out = torch.empty_like(rows)
    dist.all_to_all_single(out, rows)
    return [out]


def all_to_all_single_uneven(x, size):
    me = dist.get_rank()
    counts = [me + r for r in range(size)]
    rows = x[:1].repeat(sum(counts), 1)
    out = torch.empty_like(rows)
    dist.all_to_all_single(out, rows, counts, counts)
    return [out]


def send_and_receive(x, size):
    """Send to the next rank, receive from the previous one."""
    me = dist.get_rank()
    out = torch.empty_like(x)
    works = [dist.isend(x, (me + 1) % size), dist.irecv(out, (me - 1) % size)]
    for work in works:
        work.wait()
    return [out]


def batch(x, size):
    me = dist.get_rank()
    out = torch.empty_like(x)
    sends = dist.P2POp(dist.isend, x, (me + 1) % size)
    receives = dist.P2POp(dist.irecv, out, (me - 1) % size)
    for work in dist.batch_isend_irecv([sends, receives]):
        work.wait()
    return [out]


def tags(x, size):
    """Receive in another order than is sent."""
    if dist.get_rank() == 0:
        works = [dist.isend((x + tag).to(x.dtype), 1, tag=tag) for tag in range(3)]
        for work in works:
            work.wait()
        return []
    if dist.get_rank() == 1:
        out = [torch.empty_like(x) for _ in range(3)]
        for tag in (2, 0, 1):
            dist.recv(out[tag], 0, tag=tag)
        return out
    return []


def from_any(x, size):
    out = {}
    if dist.get_rank() != 0:
        dist.send(x, 0)
    else:
        for _ in range(size - 1):
            y = torch.empty_like(x)
            out[dist.recv(y)] = y
    # A sender does not wait for its receiver: without this, the next message of a fast
    # rank may arrive before the first one of a slow rank, and "any" takes it.
    dist.barrier()
    return [out[source] for source in sorted(out)]


def empty(x, size):
    out = [x.new_empty(0) for _ in range(size)]
    dist.all_gather(out, x.new_empty(0))
    return out


MOVES = [
    *(broadcast, all_gather, all_gather_into_tensor, all_gather_many, gather, scatter),
    *(all_to_all, all_to_all_single, all_to_all_single_uneven),
    *(send_and_receive, batch, tags, from_any, empty),
]


def compare_moves(state, name):
    function, size = globals()[name], dist.get_world_size()
    for seed, dtype in enumerate((torch.float32, torch.bool, torch.int64)):
        x = mine(dtype, 2, 3, seed=seed)
        there = function(x.to("openreg"), size)
        here = function(x.clone(), size)
        assert all(y.device.type == "openreg" for y in there)
        torch.testing.assert_close([y.cpu() for y in there], here, rtol=0, atol=0)
    return len(here)


def any_dtype(state):
    """What only moves has no list of dtypes, where Gloo has one."""
    for dtype in (torch.int16, torch.complex128, torch.float8_e5m2, torch.uint16):
        x = torch.arange(4).to(torch.float32).to(dtype).to("openreg")
        out = torch.zeros(4).to(dtype).to("openreg") if dist.get_rank() else x
        dist.broadcast(out, 0)
        assert torch.equal(out.cpu().view(torch.uint8), x.cpu().view(torch.uint8))


def lists_of_all_sizes(state):
    """Send to rank r as many of my numbers as both ranks together; Gloo cannot."""
    me, size = dist.get_rank(), dist.get_world_size()
    parts = [torch.full((me + r,), float(me), device="openreg") for r in range(size)]
    out = [torch.empty_like(part) for part in parts]
    dist.all_to_all(out, parts)
    return [y.tolist() for y in out]


def reduce_keeps(state):
    """Return what a rank has that is not the root, of a small and of a large tensor."""
    tensors = [
        torch.full((count,), dist.get_rank() + 1.0, device="openreg")
        for count in (3, 100_000)
    ]
    for x in tensors:
        dist.reduce(x, 0)
    return [x.unique().tolist() for x in tensors]


def objects(state):
    size, me = dist.get_world_size(), dist.get_rank()
    everyone = [None] * size
    dist.all_gather_object(everyone, {"rank": me, "text": "x" * me})
    one = [me]
    dist.broadcast_object_list(one, src=1)
    return everyone, one


def barriers(state):
    dist.barrier()
    dist.barrier(device_ids=[0])
    backend = dist.group.WORLD._get_backend(torch.device("openreg"))
    backend.monitored_barrier()
    return backend.name()


def subgroups(state):
    pairs = [dist.new_group([0, 1]), dist.new_group([1, 0])]
    me = dist.get_rank()
    x = torch.full((2,), float(me), device="openreg")
    for pair in pairs:
        if me < 2:
            dist.all_reduce(x, group=pair)
    return x.tolist()


def host_goes_on(state):
    """Everything between `hold` and its end happens before the data is there."""
    x = torch.ones(4, device="openreg")
    openreg.synchronize()
    with openreg.simulator.hold():
        x.mul_(dist.get_rank() + 1)
        work = dist.all_reduce(x, async_op=True)
        early = work.is_completed()
        work.wait()
        y = x * 10  # enqueued behind the collective
    openreg.synchronize()
    return early, work.is_completed(), work.is_success(), y.tolist()


def futures(state):
    x = torch.ones(2, device="openreg") * (dist.get_rank() + 1)
    future = dist.all_reduce(x, async_op=True).get_future()
    return future.then(lambda done: done.value()[0] * 2).wait().tolist()


def memory_is_kept(state):
    """A tensor may die while the collective still uses it."""
    openreg.synchronize()
    with openreg.simulator.hold():
        x = torch.full((1000,), 7.0, device="openreg")
        out = torch.empty(1000 * dist.get_world_size(), device="openreg")
        work = dist.all_gather_into_tensor(out, x, async_op=True)
        address = x.data_ptr()
        del x
        other = torch.zeros(1000, device="openreg")
        assert other.data_ptr() != address
    work.wait()
    return bool((out == 7).all())


# -- the tests --


def told():
    """Return what the page's table says of dtypes and operations."""
    return {
        (f"torch.{dtype}", op)
        for dtypes, ops in table("modules/distributed-collectives.md", "dtypes")
        for dtype in dtypes.split(", ")
        for op in code(ops)
        if op in OPS
    }


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_a_reduction_gives_what_gloo_gives(ranks, function):
    results = ranks.run(compare_reductions, function.__name__)
    assert all(result == results[0] for result in results)
    assert isinstance(results[0], list), results[0]
    if function is all_reduce:
        assert set(results[0]) == told()
    else:
        assert len(results[0]) == 12


@pytest.mark.parametrize("function", MOVES, ids=lambda f: f.__name__)
def test_what_moves_arrives_as_with_gloo(ranks, function):
    counts = ranks.run(compare_moves, function.__name__)
    assert all(isinstance(count, int) for count in counts), counts
    assert sum(counts) > 0


def test_every_dtype_moves(two):
    assert two.run(any_dtype) == [None, None]


def test_lists_of_all_sizes_are_exchanged(ranks):
    size = len(ranks.peers)
    expected = [[[float(r)] * (me + r) for r in range(size)] for me in range(size)]
    assert ranks.run(lists_of_all_sizes) == expected


def test_reduce_changes_only_the_root(ranks):
    results = ranks.run(reduce_keeps)
    total = float(sum(range(len(results) + 1)))
    assert results == [
        [[total], [total]],
        *([[rank + 1.0], [rank + 1.0]] for rank in range(1, len(results))),
    ]


@pytest.mark.smoke
def test_objects_travel(two):
    everyone = [{"rank": 0, "text": ""}, {"rank": 1, "text": "x"}]
    assert two.run(objects) == [(everyone, [1])] * 2


def test_barriers(two):
    assert two.run(barriers) == ["occl"] * 2


def test_subgroups(two):
    assert two.run(subgroups) == [[2.0, 2.0]] * 2


def test_the_host_does_not_wait(two):
    assert two.run(host_goes_on) == [(False, True, True, [30.0] * 4)] * 2


def test_a_future_runs_behind_the_collective(two):
    assert two.run(futures) == [[6.0, 6.0]] * 2


def test_memory_is_kept_until_the_collective_is_done(two):
    assert two.run(memory_is_kept) == [True, True]

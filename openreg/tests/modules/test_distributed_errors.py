# A collective that goes wrong says so on every rank; see
# docs/modules/distributed-failures.md.
import datetime
import re

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks, message, reset
from torch_openreg.openreg import _distributed

openreg = torch.openreg


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    group = Ranks(2, tmp_path_factory.mktemp("group"))
    yield group
    group.close()


@pytest.fixture
def two(shared):
    yield shared
    assert shared.run(reset) == [None, None]


def test_the_backend_takes_no_options():
    with pytest.raises(TypeError, match="occl has no pg_options"):
        _distributed._make(None, object())


def test_a_torch_without_gloo_is_refused(monkeypatch):
    monkeypatch.setattr(dist, "is_gloo_available", lambda: False)
    with pytest.raises(RuntimeError, match="occl needs Gloo, and this torch has none"):
        _distributed._make(None, None)


# -- what the ranks do --


def tensor(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype, device="openreg")


# Each takes the rank; the ranks do not agree.
DISAGREE = {
    "sizes": lambda me: dist.all_reduce(tensor(2 + me)),
    "dtypes": lambda me: dist.all_reduce(
        tensor(2, dtype=torch.int32 if me else torch.float32)
    ),
    "operations": lambda me: (
        dist.all_reduce(tensor(2)) if me else dist.broadcast(tensor(2), 0)
    ),
    "roots": lambda me: dist.broadcast(tensor(2), me),
    "reductions": lambda me: dist.all_reduce(
        tensor(2), dist.ReduceOp.MAX if me else dist.ReduceOp.SUM
    ),
    "a barrier": lambda me: dist.barrier() if me else dist.all_reduce(tensor(2)),
    "gathered sizes": lambda me: dist.all_gather(
        [tensor(2 + me), tensor(2 + me)], tensor(2 + me)
    ),
}


def disagree(state, name):
    return message(lambda: DISAGREE[name](dist.get_rank()))


def uneven_exchange(state):
    me = dist.get_rank()
    # Rank 0 sends two rows to rank 1, which expects one.
    counts = ([1, 1], [1, 2]) if me == 0 else ([1, 2], [1, 2])
    out, rows = tensor(sum(counts[0])), tensor(sum(counts[1]))
    return message(lambda: dist.all_to_all_single(out, rows, *counts))


def uneven_message(state):
    if dist.get_rank() == 0:
        return message(lambda: dist.send(tensor(3), 1))
    return message(lambda: dist.recv(tensor(2), 0))


def refused(state):
    """Return the messages of calls that one rank can tell are wrong."""
    me, peer = dist.get_rank(), 1 - dist.get_rank()
    strided = tensor(4, 4).t()
    calls = [
        lambda: dist.all_reduce(strided),
        lambda: dist.all_reduce(tensor(2, dtype=torch.int16)),
        lambda: dist.all_reduce(tensor(2), dist.ReduceOp.BAND),
        lambda: dist.all_gather([tensor(2), torch.ones(2)], tensor(2)),
        lambda: dist.all_gather([tensor(2)], tensor(2)),
        lambda: dist.all_gather([tensor(3), tensor(3)], tensor(2)),
        lambda: dist.all_gather_into_tensor(tensor(5), tensor(2)),
        lambda: dist.all_to_all_single(tensor(3), tensor(3)),
        lambda: dist.all_to_all_single(tensor(2), tensor(2), [3, 1], [1, 1]),
        lambda: dist.send(tensor(2), peer, tag=-1),
        lambda: dist.send(tensor(2), peer, tag=7 * 10**8 + 1),
        lambda: dist.all_reduce(
            torch.ones(2, dtype=torch.cfloat, device="openreg").conj()
        ),
    ]
    return [message(call) for call in calls] + [me]


def healthy(state):
    x = tensor(2) * (dist.get_rank() + 1)
    dist.all_reduce(x)
    return x.tolist()


def late_wait(state):
    """Rank 0 gives up before rank 1 comes."""
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank() == 1:
        store.wait(["rank 0 gave up"])
        dist.all_reduce(tensor(2))
        return None
    work = dist.all_reduce(x := tensor(2), async_op=True)
    text = message(lambda: work.wait(datetime.timedelta(milliseconds=50)))
    store.set("rank 0 gave up", "")
    work.wait()
    return text, x.tolist()


def alone(state):
    """Run a collective which the other rank does not join, then use the device."""
    if dist.get_rank() == 1:
        return None
    backend = dist.group.WORLD._get_backend(torch.device("openreg"))
    backend.set_timeout(datetime.timedelta(seconds=1))
    x = tensor(2)
    first = message(lambda: dist.all_reduce(x))
    work_text = message(lambda: dist.all_reduce(tensor(2), async_op=True).wait())
    return first, work_text, message(lambda: x.cpu())


def abort_a_pair(state):
    """Rank 1 aborts a group of the ranks 0 and 1, in which rank 0 waits."""
    pair = dist.new_group([0, 1])
    if dist.get_rank() == 1:
        dist.distributed_c10d._abort_process_group(pair)
    if dist.get_rank() == 0:
        text = message(lambda: dist.barrier(group=pair))
        reset(state)
        return text
    return None


def barrier_of_all(state):
    return message(dist.barrier)


def barrier_alone(state):
    return message(dist.barrier) if dist.get_rank() == 0 else None


# -- the tests --


@pytest.mark.parametrize("name", DISAGREE)
def test_ranks_that_disagree_are_named(two, name):
    for text in two.run(disagree, name):
        assert "the calls of the ranks do not match" in text
        assert re.search(r"rank 0: #\d+ .*\n +rank 1: #\d+ ", text)


def test_an_exchange_that_does_not_fit(two):
    for text in two.run(uneven_exchange):
        assert "rank 0 sends 8 bytes to rank 1, which expects 4" in text


def test_a_message_that_does_not_fit(two):
    sender, receiver = two.run(uneven_message)
    assert (
        "occl::send failed on rank 0 of 2 in group 0 (default_pg): "
        "this rank sends 12 bytes of float32" in sender
    )
    assert "this rank expects 8 bytes of float32, rank 0 sends 12 bytes" in receiver


def test_after_a_disagreement_and_a_reset_the_group_works(two):
    two.run(disagree, "sizes")
    two.run(reset)
    assert two.run(healthy) == [[3.0, 3.0]] * 2


def test_what_one_rank_can_tell_is_refused_before_anything_is_sent(two):
    expected = [
        "ValueError: occl::all_reduce takes contiguous tensors, but got one of sizes "
        "[4, 4] and strides [1, 4]; call .contiguous() first",
        "TypeError: occl::all_reduce cannot reduce Short with ReduceOp.SUM",
        "TypeError: occl::all_reduce cannot reduce Float with ReduceOp.BAND",
        "",
        "ValueError: occl::all_gather takes a list of one tensor for each of 2 ranks",
        "ValueError: occl::all_gather on rank ",
        "ValueError: occl::all_gather_into_tensor of 2 ranks has parts of 2 elements",
        "ValueError: occl::all_to_all_single cannot divide 3 rows evenly among 2 ranks",
        "ValueError: occl::all_to_all_single got split sizes [3, 1] for 2 rows",
        "ValueError: occl::send got tag -1, which is not between 0 and 7 * 10**8",
        "ValueError: occl::send got tag 700000001, which is not between",
        "",
    ]
    for *texts, _ in two.run(refused):
        for text, start in zip(texts, expected, strict=True):
            assert text is not None
            assert text.startswith(start), text
    assert two.run(healthy) == [[3.0, 3.0]] * 2


def test_wait_with_a_timeout_gives_up_and_the_collective_goes_on(two):
    (text, values), _ = two.run(late_wait)
    assert "all_reduce has not completed within the 50 ms passed to wait()" in text
    assert values == [2.0, 2.0]


def test_a_rank_that_does_not_come_is_a_timeout(tmp_path):
    group = Ranks(2, tmp_path)
    first, work, copy = group.run(alone)[0]
    assert "occl::all_reduce failed on rank 0 of 2" in first
    assert "imed out" in first
    assert work is not None
    assert "occl::all_reduce failed on rank 0 of 2" in copy
    group.close()


def test_a_rank_that_died_is_an_error(tmp_path):
    group = Ranks(2, tmp_path)
    group.peers.pop().kill()
    (text,) = group.run(barrier_alone)
    assert text.startswith("DistBackendError: occl::barrier failed on rank 0 of 2")
    group.close()


def test_without_a_board_gloo_tells_that_a_rank_is_gone(tmp_path, monkeypatch):
    monkeypatch.setenv("OCCL_SHM_DISABLE", "1")
    group = Ranks(3, tmp_path)
    texts = group.run(abort_a_pair)[:1]
    group.peers.pop().kill()
    texts += group.run(barrier_of_all)[:1]
    for text in texts:
        assert text.startswith("DistBackendError: occl::barrier failed on rank 0 of ")
        assert re.search(r"Connection (closed|reset) by peer|Broken pipe", text), text
    group.close()

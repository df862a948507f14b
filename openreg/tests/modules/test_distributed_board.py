# Collectives over memory that the ranks share; see docs/modules/distributed.md.
import datetime
import hashlib
import os
import random
import re
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks, message, reset

openreg = torch.openreg
PIECE = (1 << 20) - 264  # bytes of a share that travel at once


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def ranks(request, tmp_path_factory):
    group = Ranks(request.param, tmp_path_factory.mktemp("group"), "occl")
    yield group
    group.close()


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    group = Ranks(3, tmp_path_factory.mktemp("three"), "occl")
    yield group
    group.close()


# -- what the ranks do --


def share_of(rank, dtype, count):
    """Return the numbers that a rank brings; every rank can make them all."""
    generator = torch.Generator().manual_seed(1000 * rank + count)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(count, generator=generator, dtype=torch.float64).to(dtype)
    return torch.randint(0, 100, (count,), generator=generator).to(dtype)


def shares(dtype, count):
    return [share_of(rank, dtype, count) for rank in range(dist.get_world_size())]


def digest(tensor):
    return hashlib.sha256(tensor.cpu().view(torch.uint8).numpy().tobytes()).hexdigest()


BITS = {
    "BAND": torch.bitwise_and,
    "BOR": torch.bitwise_or,
    "BXOR": torch.bitwise_xor,
}
FUNCTIONS = {
    **{"SUM": torch.add, "AVG": torch.add, "PRODUCT": torch.mul},
    **{"MIN": torch.minimum, "MAX": torch.maximum, **BITS},
}
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.bool, torch.int32, torch.int64]
REDUCTIONS = [
    *((dtype, op) for dtype in FLOATS for op in FUNCTIONS if op not in BITS),
    *((dtype, op) for dtype in INTEGERS for op in FUNCTIONS if op != "AVG"),
    *((dtype, op) for dtype in (torch.cfloat, torch.cdouble) for op in ("SUM", "AVG")),
]


def reduce_all(state, count):
    """Compare with the CPU; return what every rank must have in common."""
    digests = []
    for dtype, op in REDUCTIONS:
        parts = shares(dtype, count)
        expected = parts[0]
        for part in parts[1:]:
            expected = FUNCTIONS[op](expected, part)
        if op == "AVG":
            real = torch.view_as_real(expected) if dtype.is_complex else expected
            real.div_(len(parts))
        x = parts[dist.get_rank()].to("openreg")
        dist.all_reduce(x, getattr(dist.ReduceOp, op))
        torch.testing.assert_close(x.cpu(), expected, rtol=0, atol=0, equal_nan=True)
        digests.append(digest(x))
    return digests


# Around the ends of one and of two pieces, and sizes that nothing divides.
SIZES = [0, 1, 7, PIECE // 4 - 1, PIECE // 4, PIECE // 4 + 1, PIECE // 2 + 1, 300_007]


def reduce_sizes(state):
    return [
        digest_of_sum(shares(torch.float32, count)[dist.get_rank()], count)
        for count in SIZES
    ]


def digest_of_sum(mine, count):
    x = mine.to("openreg")
    dist.all_reduce(x)
    parts = shares(torch.float32, count)
    torch.testing.assert_close(x.cpu(), sum(parts[1:], parts[0]), rtol=0, atol=0)
    return digest(x)


def reduce_nans(state):
    """One NaN comes from the first rank, one from the last."""
    me, last = dist.get_rank(), dist.get_world_size() - 1
    for op in (dist.ReduceOp.MIN, dist.ReduceOp.MAX):
        x = torch.tensor([1.0, 1.0, 2.0])
        x[torch.tensor([me == 0, me == last, False])] = torch.nan
        dist.all_reduce(x := x.to("openreg"), op)
        assert x.isnan().tolist() == [True, True, False]


def reduce_lists(state):
    """Several tensors in one collective, with an empty one, over three pieces."""
    counts = [3, 0, PIECE // 4 - 5, 11, PIECE // 2]
    whole = shares(torch.float32, sum(counts))
    parts = [part.to("openreg") for part in whole[dist.get_rank()].split(counts)]
    with dist._coalescing_manager():
        for part in parts:
            dist.all_reduce(part)
    expected = sum(whole[1:], whole[0]).split(counts)
    torch.testing.assert_close([x.cpu() for x in parts], list(expected), rtol=0, atol=0)


def gather_and_reduce_uneven(state):
    """Each rank has its own size, some none; a wrong one is refused at the call."""
    size, me = dist.get_world_size(), dist.get_rank()
    counts = [(2 * rank) % 5 for rank in range(size)]
    listed = [torch.zeros(count, device="openreg") for count in counts]
    dist.all_gather(listed, torch.full((counts[me],), float(me), device="openreg"))
    assert [x.tolist() for x in listed] == [
        [float(r)] * n for r, n in enumerate(counts)
    ]
    parts = [
        torch.full((n,), float(me + r), device="openreg") for r, n in enumerate(counts)
    ]
    dist.reduce_scatter(got := torch.zeros_like(listed[me]), parts)
    assert got.tolist() == [float(sum(range(size)) + size * me)] * counts[me]
    larger = torch.zeros(counts[me] + 1, device="openreg")
    return [
        message(lambda: dist.all_gather(listed, larger)),
        message(lambda: dist.reduce_scatter(larger, parts)),
    ]


def gather_all(state):
    """Three ways to gather, of one share or of several."""
    size, me = dist.get_world_size(), dist.get_rank()
    for dtype in (torch.uint8, torch.float64):
        for count in (0, 1, 13, PIECE + 3):
            expected = shares(dtype, count)
            mine = expected[me].to("openreg")
            listed = [torch.zeros_like(mine) for _ in range(size)]
            dist.all_gather(listed, mine)
            whole = mine.new_zeros(size * count)
            # The input may be its own place in the output.
            whole[me * count : (me + 1) * count] = mine
            inside = whole[me * count : (me + 1) * count]
            dist.all_gather_into_tensor(whole, inside)
            many = [
                [torch.zeros_like(mine), mine.new_zeros(min(count, 5))]
                for _ in range(size)
            ]
            dist.all_gather_coalesced(many, [mine, mine[:5].clone()])
            for rank, numbers in enumerate(expected):
                place = whole[rank * count : (rank + 1) * count]
                for got in (listed[rank], place, many[rank][0]):
                    assert torch.equal(got.cpu(), numbers)
                assert torch.equal(many[rank][1].cpu(), numbers[:5])


def maps():
    """Return how many boards this process has, and how many open files."""
    boards = Path("/proc/self/maps").read_text().count("openreg-occl")
    return boards, len(list(Path("/proc/self/fd").iterdir()))


def groups_come_and_go(state):
    """Return boards before, with a group, and after; and files that stayed open."""

    def come_and_go():
        group = dist.new_group()
        dist.all_reduce(x := torch.ones(2, device="openreg"), group=group)
        assert x.tolist() == [float(dist.get_world_size())] * 2
        boards = maps()[0]
        dist.destroy_process_group(group)
        return boards

    come_and_go()  # the first one opens a file that the process keeps
    before, files = maps()
    for _ in range(5):
        during = come_and_go()
    after, files_after = maps()
    return before, during, after, files_after - files


def stress(state, seed):
    """Many collectives of all kinds, of two groups, while tasks start at odd times."""
    size, me = dist.get_world_size(), dist.get_rank()
    other = dist.new_group()
    chance = random.Random(seed)  # the same on all ranks
    with openreg.simulator.delay(300, seed=seed + me + 1):
        checks = []
        for step in range(40):
            count = chance.choice([1, 5, 1000, PIECE // 4 + 3])
            group = chance.choice([None, other])
            x = torch.full((count,), float(me + step), device="openreg")
            if chance.random() < 0.5:
                dist.all_reduce(x, group=group, async_op=True).wait()
                total = float(sum(range(size)) + size * step)
                checks.append((x == total).all())
            else:
                out = x.new_empty(size * count)
                dist.all_gather_into_tensor(out, x, group=group, async_op=True).wait()
                ranks = torch.arange(size, device="openreg").repeat_interleave(count)
                checks.append((out == ranks + step).all())
            if chance.random() < 0.1:
                dist.barrier(group=group)
        good = bool(torch.stack(checks).all())
    dist.destroy_process_group(other)
    return good


def two_devices(state, seed):
    """Collectives of one group on two devices come in the order of the calls."""
    me, size = dist.get_rank(), dist.get_world_size()
    numbers = [
        torch.full((3,), float(me), device=f"openreg:{step % 2}") for step in range(30)
    ]
    with openreg.simulator.delay(500, seed=seed + me + 1):
        for x in numbers:
            dist.all_reduce(x, async_op=True)
        openreg.synchronize(0)
        openreg.synchronize(1)
    return all(x.tolist() == [float(sum(range(size)))] * 3 for x in numbers)


def without_shared_memory(state):
    """Only this rank refuses: all must do without."""
    if dist.get_rank() == 0:
        os.environ["OCCL_SHM_DISABLE"] = "1"
    before, _ = maps()
    group = dist.new_group()
    os.environ.pop("OCCL_SHM_DISABLE", None)
    size, me = dist.get_world_size(), dist.get_rank()
    x = torch.arange(3.0, device="openreg") + me
    dist.all_reduce(x, group=group)
    out = x.new_empty(3 * size)
    dist.all_gather_into_tensor(out, x, group=group)
    assert torch.equal(out, x.repeat(size))
    rows = torch.full((size, 2), float(me), device="openreg")
    dist.all_to_all_single(torch.empty_like(rows), rows, group=group)
    dist.barrier(group=group)
    text = message(lambda: dist.broadcast(x, me, group=group))
    reset(state)
    dist.destroy_process_group(group)
    return maps()[0] - before, x.tolist(), text


def reduce_for_ever(state, count, mark):
    """Return what stops it. After some rounds there is a file `mark`."""
    x = torch.zeros(count, device="openreg")
    for step in range(1_000_000):
        text = message(lambda: dist.all_reduce(x))
        if text or step == 3:
            Path(mark).touch()  # also if it ends early: somebody waits for the file
        if text:
            return text
    return None


def late(state, mark):
    """Rank 1 comes when the others have given up."""
    group = dist.new_group()
    backend = group._get_backend(torch.device("openreg"))
    backend.set_timeout(datetime.timedelta(milliseconds=700))
    if dist.get_rank() == 1:
        while len(list(Path(mark).iterdir())) < dist.get_world_size() - 1:
            time.sleep(0.01)
    x = torch.ones(2, device="openreg")
    text = message(lambda: dist.all_reduce(x, group=group))
    Path(mark, str(dist.get_rank())).touch()
    reset(state)
    again = message(lambda: dist.all_reduce(x, group=group))
    reset(state)
    dist.destroy_process_group(group)
    return text, again


def leave(state):
    """Rank 1 goes; the others wait for it."""
    group = dist.new_group()
    if dist.get_rank() == 1:
        dist.destroy_process_group(group)
        return None
    text = message(lambda: dist.barrier(group=group))
    reset(state)
    dist.destroy_process_group(group)
    return text


def fork(state):
    """A copy of the process which ends must not take the rank with it."""
    dist.barrier()
    if (child := os.fork()) == 0:
        try:
            dist.group.WORLD._get_backend(torch.device("openreg")).shutdown()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    dist.all_reduce(x := torch.ones(2, device="openreg"))
    return x.tolist()


# -- the tests --


def agree(answers):
    """The ranks' answers are equal, and are no error."""
    assert not isinstance(answers[0], str), answers[0]
    assert all(answer == answers[0] for answer in answers), answers


@pytest.mark.parametrize("count", [5, 140_000])
def test_reductions_give_what_the_cpu_gives_and_are_equal_on_all_ranks(ranks, count):
    agree(ranks.run(reduce_all, count))


def test_every_size_arrives(ranks):
    agree(ranks.run(reduce_sizes))


def test_a_nan_of_any_rank_stays(ranks):
    assert ranks.run(reduce_nans) == [None] * len(ranks.peers)


def test_lists_of_tensors_travel_together(ranks):
    assert ranks.run(reduce_lists) == [None] * len(ranks.peers)


def test_what_is_gathered_arrives(ranks):
    assert ranks.run(gather_all) == [None] * len(ranks.peers)


def test_ranks_may_bring_different_sizes(ranks):
    for rank, (gathered, reduced) in enumerate(ranks.run(gather_and_reduce_uneven)):
        count = (2 * rank) % 5
        of = rf"on rank {rank} needs {count + 1} elements in tensor {rank} of its list"
        assert re.search(rf"all_gather {of}, .* got {count}$", gathered)
        assert re.search(rf"_scatter {of}, .* got {count}$", reduced)


def test_a_group_gives_its_memory_and_its_files_back(ranks):
    for before, during, after, files in ranks.run(groups_come_and_go):
        assert (during - before, after - before, files) == (1, 0, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_tasks_that_start_at_odd_times(ranks, seed):
    assert ranks.run(stress, seed) == [True] * len(ranks.peers)


@pytest.mark.parametrize("seed", [10, 20])
def test_collectives_on_two_devices_keep_their_order(ranks, seed):
    assert ranks.run(two_devices, seed) == [True] * len(ranks.peers)


def test_a_rank_that_cannot_share_memory_makes_all_use_gloo(ranks):
    size = len(ranks.peers)
    total = [size * i + sum(range(size)) for i in range(3)]
    for boards, values, text in ranks.run(without_shared_memory):
        assert (boards, values) == (0, total)
        if size > 1:
            assert "the calls of the ranks do not match" in text


@pytest.mark.parametrize("count", [10, 1 << 23], ids=["small", "large"])
def test_a_rank_that_is_killed_is_named_on_every_other(tmp_path, count):
    three, mark = Ranks(3, tmp_path, "occl"), tmp_path / "mark"
    for peer in three.peers:
        peer.start(reduce_for_ever, count, str(mark))
    while not mark.exists():
        time.sleep(0.01)
    three.peers.pop().kill()
    for rank, text in enumerate(three.answers()):
        expected = f"occl::all_reduce failed on rank {rank} of 3 in group 0 "
        assert text is not None
        assert f"{expected}(default_pg): rank 2: its process has ended" in text
    assert list(Path("/dev/shm").glob("*occl*")) == []
    three.close()


def test_a_late_rank_is_named_and_learns_it(three, tmp_path):
    for rank, texts in enumerate(three.run(late, str(tmp_path))):
        expected = f"occl::all_reduce failed on rank {rank} of 3 in group "
        for text in texts:
            assert text is not None
            assert expected in text
            # A busy machine may also make another rank late.
            assert re.search("timed out after 700 ms without .*rank 1", text), text


def test_a_rank_that_left_is_named(three):
    first, _, third = three.run(leave)
    assert "rank 1 has left the group" in first
    assert "rank 1 has left the group" in third


def test_a_fork_does_not_leave_the_group(three):
    assert three.run(fork) == [[3.0, 3.0]] * 3

# Memory that every rank's kernels reach; see docs/modules/symmetric-memory.md.
import pytest
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from ranks import message, reset
from sharding_support import rows
from torch_release import has_changed

openreg = torch.openreg
one_shot = torch.ops.symm_mem.one_shot_all_reduce


def shared(group, *shape, **options):
    """Return a tensor that all ranks of a group reach, and its handle."""
    x = symm_mem.empty(*shape, device="openreg", **options)
    return x, symm_mem.rendezvous(x, group)


def test_the_cache_is_emptied_where_the_device_has_no_memory_left():
    cached = torch.empty(64 << 20, dtype=torch.uint8, device="openreg")
    del cached  # its own segment
    before = openreg.memory_reserved()
    openreg.simulator.fail_allocation(1)
    assert symm_mem.empty(4, device="openreg").zero_().tolist() == [0] * 4
    assert openreg.memory_reserved() <= before - (64 << 20)


def test_memory_that_cannot_be_cleared_goes_back(compile_cpp, run_python):
    program = """
        import os, torch
        import torch.distributed._symmetric_memory as symm_mem
        before = torch.openreg.mem_get_info()
        os.environ["FAIL_MEMSET"] = "1"
        try:
            symm_mem.empty(1 << 20, device="openreg")
        except torch.AcceleratorError:
            print(torch.openreg.mem_get_info() == before)
    """
    failing = str(compile_cpp("fail_calls", backend=False))
    process = run_python(program, LD_PRELOAD=failing)
    assert process.stdout == "True\n", process.stderr


# --- Reading and writing --------------------------------------------------------------


def write_and_read(state, ranks):
    group = rows(ranks).get_group()
    rank, (x, handle) = dist.get_rank(group), shared(group, 4)
    x.fill_(rank)
    handle.barrier()
    seen = [handle.get_buffer(r, (4,), x.dtype).tolist() for r in range(ranks)]
    handle.barrier(channel=1)
    handle.get_buffer((rank + 1) % ranks, (2,), x.dtype, 2).fill_(10 + rank)
    handle.put_signal((rank + 1) % ranks, channel=2)
    handle.wait_signal((rank - 1) % ranks, channel=2)
    facts = (handle.rank, handle.world_size, str(handle.device), handle.buffer_size)
    pad = handle.get_signal_pad(rank)
    counts = len(set(handle.buffer_ptrs)), len(set(handle.signal_pad_ptrs))
    return seen, x.tolist(), facts, counts, pad.long().count_nonzero().item()


@pytest.mark.parametrize("ranks", [2, 4])
def test_every_rank_reads_and_writes_the_memory_of_all(four, ranks):
    for place, result in enumerate(four.run(write_and_read, ranks)):
        assert not isinstance(result, str), result
        seen, after, facts, counts, left = result
        rank = place % ranks
        assert seen == [[r] * 4 for r in range(ranks)]
        assert after == [rank, rank, 10 + (rank - 1) % ranks, 10 + (rank - 1) % ranks]
        assert facts == (rank, ranks, "openreg:0", 16)
        assert counts == (ranks, ranks)
        assert left == 0  # the rule of the header: zero after use


def reduce_often(state, ranks, dtype):
    """Return how the results differ from OCCL's, without waiting in between."""
    group = rows(ranks).get_group()
    x, _ = shared(group, 3, 1000, dtype=dtype)
    part, differences = x[1], []
    for step in range(20):
        torch.manual_seed(100 * step + dist.get_rank(group))
        part.copy_(torch.randint(-9, 9, (1000,)).to(dtype))
        expected = part.clone()
        result = one_shot(part, "sum", group.group_name)
        dist.all_reduce(expected, group=group)
        differences.append((result - expected).abs().max())
    return torch.stack(differences).tolist(), expected.abs().max().item()


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_one_shot_all_reduce_gives_what_occl_gives(four, ranks, dtype):
    for result in four.run(reduce_often, ranks, dtype):
        assert not isinstance(result, str), result
        differences, largest = result
        assert differences == [0] * 20
        assert largest > 9


# --- Order and time -------------------------------------------------------------------


def wait_on_the_device(state):
    """Rank 0 enqueues, and only then lets rank 1 begin."""
    group = rows(2).get_group()
    _, handle = shared(group, 1)
    store = dist.distributed_c10d._get_default_store()
    key = f"rank {dist.get_rank()} of a pair has enqueued"
    if dist.get_rank(group) == 1:
        store.wait([f"rank {dist.get_rank() - 1} of a pair has enqueued"])
        handle.barrier()
        return True
    openreg.synchronize()
    handle.barrier()
    waiting = not openreg.current_stream().query()
    store.set(key, "")
    openreg.synchronize()
    return waiting


def test_the_device_waits_and_not_the_host(four):
    assert four.run(wait_on_the_device) == [True] * 4


def come_late(state):
    group = rows(2).get_group()
    x, handle = shared(group, 1)
    openreg.synchronize()
    dist.barrier()
    if dist.get_rank(group) == 1:
        text = message(lambda: handle.wait_signal(0, channel=1, timeout_ms=100))
    else:
        text = message(lambda: handle.barrier(timeout_ms=100))
    reset(state)
    dist.barrier()
    return text, message(lambda: x.add_(1))


def test_a_rank_that_does_not_come_is_an_error_of_the_device(four):
    results = four.run(come_late)
    for rank, (text, after) in enumerate(results):
        name, channel = [("barrier", 0), ("wait_signal", 1)][rank % 2]
        assert (
            f"symm_mem::{name} timed out on rank {rank % 2} of 2, channel {channel}: "
            f"rank {1 - rank % 2} has sent no signal within 100 ms" in text
        )
        assert after is None


def of_two_sizes(state):
    group = rows(4).get_group()
    return message(lambda: shared(group, 4 + dist.get_rank()))


def test_all_ranks_need_the_same_size(four):
    for text in four.run(of_two_sizes):
        assert text.startswith("RuntimeError: openreg: symmetric memory has ")
        assert "allocate tensors of one size, in one order, on all ranks" in text


# --- One process ----------------------------------------------------------------------


def test_memory_goes_back_when_tensor_and_handle_are_gone(alone):
    openreg.empty_cache()
    before = openreg.mem_get_info()
    x, handle = shared(dist.group.WORLD, 1 << 20)
    assert openreg.mem_get_info()[0] <= before[0] - (4 << 20)
    again = symm_mem.rendezvous(x, dist.group.WORLD)
    assert again.buffer_ptrs == handle.buffer_ptrs
    assert symm_mem.is_symm_mem_tensor(x)
    assert not symm_mem.is_symm_mem_tensor(torch.empty(1, device="openreg"))
    assert symm_mem.get_backend("openreg") == "OPENREG"
    del x
    assert handle.get_buffer(0, (1,), torch.float32).fill_(2).item() == 2
    del handle, again
    openreg.empty_cache()  # of the numbers that were read
    assert openreg.mem_get_info() == before


def test_what_one_shot_all_reduce_refuses(alone):
    group = dist.group.WORLD
    x, handle = shared(group, 4)
    name, plain = group.group_name, torch.ones(4, device="openreg")
    assert "needs symmetric memory" in message(lambda: one_shot(plain, "sum", name))
    assert "supports only sum, not max" in message(lambda: one_shot(x, "max", name))
    into = torch.ops.symm_mem.one_shot_all_reduce_out
    for out in (plain[:2], plain.double(), x):
        text = message(lambda out=out: into(x, "sum", name, out))
        assert "needs two contiguous tensors of one shape and dtype" in text
    assert "there is no channel -1" in message(lambda: handle.barrier(channel=-1))
    assert "there is no rank 1 among 1" in message(lambda: handle.put_signal(1))


def test_torchs_own_helpers_know_cuda_only(alone):
    x, handle = shared(dist.group.WORLD, 4)
    text = message(lambda: symm_mem.put_signal(x, handle, 0))
    assert text == "ValueError: put_signal: unsupported backend: OPENREG"
    text = message(lambda: symm_mem.wait_signal(handle, 0))
    assert text == "ValueError: wait_signal: unsupported backend: OPENREG"
    name = dist.group.WORLD.group_name
    text = message(lambda: symm_mem.get_symm_mem_workspace(name, 64))
    if has_changed("symmetric memory has a workspace"):
        assert text is None
    else:
        assert "cuda" in text.lower() or "nvidia" in text.lower()

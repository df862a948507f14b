# What the flight recorder keeps of each operation; see
# docs/modules/distributed-debugging.md.
import pickle

import pytest
import torch
import torch.distributed as dist
from ranks import message
from recorded import analyzed, dump, entries

openreg = torch.openreg
DEVICE = torch.device("openreg", 0)
SIZE = 4
ROOTED = ["broadcast", "all_reduce", "reduce"]
GATHERED = ["all_gather", "all_gather_into_tensor", "gather"]
SCATTERED = [
    *("scatter", "reduce_scatter", "reduce_scatter_tensor"),
    *("all_to_all", "all_to_all_single"),
]


def tensor(*shape):
    return torch.ones(shape, device="openreg")


def every_kind(state, folder):
    """Each collective, some messages, and a call that the group refuses."""
    me, peer = dist.get_rank(), dist.get_rank() ^ 1
    x, parts = tensor(SIZE), [tensor(1) for _ in range(SIZE)]
    dist.broadcast(x, 1)
    dist.all_reduce(x)
    dist.reduce(x, 2)
    dist.all_gather(parts, tensor(1))
    dist.all_gather_into_tensor(tensor(SIZE), tensor(1))
    dist.gather(tensor(1), parts if me == 0 else None)
    dist.scatter(tensor(1), parts if me == 0 else None)
    dist.reduce_scatter(tensor(1), parts)
    dist.reduce_scatter_tensor(tensor(1), x)
    dist.all_to_all(parts, [tensor(1) for _ in range(SIZE)])
    rows = [me, *[1] * (SIZE - 1)]
    taken = [peer_rank if me == 0 else 1 for peer_rank in range(SIZE)]
    dist.all_to_all_single(tensor(sum(taken)), tensor(sum(rows)), taken, rows)
    dist.group.WORLD._get_backend(DEVICE).barrier().wait()  # that of Gloo comes first
    assert "contiguous" in message(lambda: dist.all_reduce(tensor(2, 3).t()))
    (dist.send if me < peer else dist.recv)(x, peer)
    openreg.synchronize()
    dump(state, folder)
    return [(e["name"], e["collective_seq_id"], e["state"]) for e in entries(state)]


def test_the_analysis_finds_no_fault_where_there_is_none(ranks, traces):
    names = [*ROOTED, *GATHERED, *SCATTERED, "barrier"]
    expected = [(f"occl::{name}", i, "completed") for i, name in enumerate(names, 1)]
    for rank, recorded in enumerate(ranks.run(every_kind, str(traces))):
        message = "occl::send" if rank in (0, 2) else "occl::recv"
        assert recorded == [*expected, (message, len(names), "completed")]
    for file in traces.iterdir():
        content = pickle.loads(file.read_bytes())
        del content["entries"][-1]  # it expects a message of every rank
        file.write_bytes(pickle.dumps(content))
    found = analyzed(traces)
    assert [each.pass_check for each in found] == [True] * len(names)
    assert not any(each.missing_ranks for each in found)


def test_the_oldest_records_go_first(run_forked):
    program = """
        import torch, torch.distributed as dist
        from torch_openreg.openreg import flight_recorder
        dist.init_process_group("occl", store=dist.HashStore(), rank=0, world_size=1)
        for size in range(1, 6):
            dist.all_reduce(torch.ones(size, device="openreg"))
        print([entry["input_sizes"] for entry in flight_recorder.entries()])
    """
    for size, expected in (("2", [[[4]], [[5]]]), ("0", [])):
        process = run_forked(program, TORCH_FR_BUFFER_SIZE=size)
        assert process.stdout == f"{expected}\n", process.stderr


def test_a_refused_call_is_not_recorded_and_keeps_the_numbers(alone):
    backend, x = dist.group.WORLD._get_backend(DEVICE), tensor(2)
    before = backend._get_sequence_number_for_group()
    recorded, options = len(entries({})), dist.BroadcastOptions()
    backend.broadcast([x], options)
    options.rootRank = 3
    with pytest.raises(ValueError, match="got rank 3"):
        backend.broadcast([x], options)
    assert backend._get_sequence_number_for_group() == before + 1
    assert len(entries({})) == recorded + 1


def test_the_state_of_an_operation(alone):
    """It is scheduled while its stream waits, and has no duration until it is over."""
    group, x = dist.group.WORLD, tensor(2)
    openreg.synchronize()
    with openreg.simulator.hold():
        y = x + 1
        work = dist.all_reduce(y, async_op=True)
        assert entries({})[-1]["state"] == "scheduled"
        with pytest.raises(RuntimeError, match="all_reduce has no duration"):
            work._get_duration()
    openreg.synchronize()
    assert entries({})[-1]["state"] == "completed"
    assert entries({})[-1]["duration_ms"] is None
    group._enable_collectives_timing()
    with dist._coalescing_manager(device=DEVICE, async_ops=True) as manager:
        dist.broadcast(x, 0)
        dist.reduce(y, 0)
    manager.wait()
    openreg.synchronize()
    durations = [entry["duration_ms"] for entry in entries({})[-2:]]
    assert manager.works[0]._get_duration() == max(durations) > 0

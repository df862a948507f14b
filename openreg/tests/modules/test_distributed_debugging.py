# Four ranks, five faults, and the tool that finds each; see
# docs/modules/distributed-debugging.md.
import datetime
import os
import pickle
import signal
import time

import pytest
import torch
import torch.distributed as dist
from patience import PATIENCE
from ranks import Ranks, message, reset
from recorded import analyzed, dump, entries
from torch._C import _distributed_c10d as c10d
from torch_release import has_changed

openreg = torch.openreg
DEVICE = torch.device("openreg", 0)
SIZE = 4
CULPRIT = 2


def tensor(*shape):
    return torch.ones(shape, device="openreg")


def store():
    return dist.distributed_c10d._get_default_store()


# -- a rank that skips a collective --


def skip(state, folder):
    """The others wait for the culprit while all write what they have recorded."""
    me, x = dist.get_rank(), tensor(3)
    dist.all_reduce(x)
    openreg.synchronize()
    work = dist.all_reduce(x, async_op=True) if me != CULPRIT else None
    while work and entries(state)[-1]["state"] != "started":
        time.sleep(0.001)
    dump(state, folder)
    if me != CULPRIT:
        store().set(f"{me} has written", "")
    else:
        store().wait([f"{rank} has written" for rank in range(SIZE) if rank != me])
        work = dist.all_reduce(x, async_op=True)
    work.wait()
    return x.tolist(), [entry["state"] for entry in entries(state)]


def test_the_recorder_names_a_rank_that_skips_a_collective(ranks, traces):
    expected = ([16.0] * 3, ["completed"] * 2)
    assert ranks.run(skip, str(traces)) == [expected] * SIZE
    first, second = analyzed(traces)
    assert first.pass_check and first.collective_state == "completed"
    assert second.missing_ranks == {CULPRIT}
    assert second.collective_state == "started"
    assert second.collective_seq_id == 2
    assert second.input_sizes == [[3]]
    assert "skip" in [frame["name"] for frame in second.collective_frames]


def monitored(state):
    """The culprit does not come to a barrier that names the missing rank."""
    if dist.get_rank() == CULPRIT:
        return store().wait([f"{r} has waited" for r in range(SIZE) if r != CULPRIT])
    backend = dist.group.WORLD._get_backend(DEVICE)
    backend.set_timeout(datetime.timedelta(seconds=1))
    text = message(backend.monitored_barrier)
    store().set(f"{dist.get_rank()} has waited", "")
    return text


def test_monitored_barrier_names_a_rank_that_does_not_come(ranks):
    texts = ranks.run(monitored)
    assert texts.pop(CULPRIT) is None
    for text in texts:
        assert "occl::monitored_barrier failed on rank" in text
        assert f"without rank {CULPRIT}" in text


# -- other shapes --


def other_shapes(state, folder):
    me = dist.get_rank()
    text = message(lambda: dist.all_reduce(tensor(3 if me == CULPRIT else 2)))
    dump(state, folder)
    reset(state)
    return text


def test_the_library_and_the_recorder_name_a_rank_with_another_shape(ranks, traces):
    for text in ranks.run(other_shapes, str(traces)):
        assert "the calls of the ranks do not match" in text
    (found,) = analyzed(traces)
    assert list(found.mismatch_collectives) == [CULPRIT]
    wrong = found.mismatch_collectives[CULPRIT]
    assert wrong.type_of_mismatch.state.name == "SIZE_OR_SYNTAX_MISMATCH"
    assert (found.input_sizes, wrong.input_sizes) == ([[2]], [[3]])


def detail(state):
    """Return the error, and what the group of the device has recorded."""
    dist.set_debug_level(dist.DebugLevel.DETAIL)  # as TORCH_DISTRIBUTED_DEBUG does
    group = dist.new_group(backend="cpu:gloo,openreg:occl")
    x = tensor(3 if dist.get_rank() == CULPRIT else 2)
    return message(lambda: dist.all_reduce(x, group=group)), entries(state)


def test_detail_names_a_rank_with_another_shape_before_the_device_runs(ranks):
    for text, recorded in ranks.run(detail):
        assert "Detected mismatch between collectives on ranks" in text
        assert f"Rank {CULPRIT} is running collective" in text
        assert "Tensor shapes: 2vs 3" in text or "Tensor shapes: 3vs 2" in text
        assert recorded == []


# -- a dead rank --


def die(state, folder):
    if dist.get_rank() == CULPRIT:
        os.kill(os.getpid(), signal.SIGKILL)
    text = message(lambda: dist.all_reduce(tensor(2)))
    dump(state, folder)
    return text


def test_the_library_names_a_dead_rank_and_the_analysis_goes_on_without(ranks, traces):
    texts = ranks.run(die, str(traces))
    del texts[CULPRIT]
    for text in texts:
        assert f"rank {CULPRIT}: its process has ended" in text
    with pytest.raises(AssertionError, match=rf"Missing dump files .* \{{{CULPRIT}\}}"):
        analyzed(traces)
    (found,) = analyzed(traces, "--allow-incomplete-ranks")
    assert found.collective_state == "started"


# -- a slow rank --

LATE = 100  # milliseconds


def slow(state):
    """The culprit comes late; return the durations of one collective, by rank."""
    dist.group.WORLD._enable_collectives_timing()
    me, x, gathered = dist.get_rank(), tensor(3), [None] * SIZE
    give_up = time.monotonic() + PATIENCE
    for step in range(1000):
        if me == CULPRIT:
            store().wait([f"{r} is in {step}" for r in range(SIZE) if r != me])
            time.sleep(LATE / 1000)
        work = dist.all_reduce(x, async_op=True)
        while me != CULPRIT and entries(state)[-1]["state"] == "scheduled":
            time.sleep(0.001)
        store().set(f"{me} is in {step}", "")
        work.wait()
        openreg.synchronize()
        mine = entries(state)[-1]["duration_ms"]
        assert mine == work._get_duration() > 0
        dist.all_gather_object(gathered, mine, group=state["cpu"])
        # A busy machine may also hold up the culprit between the start and the end.
        if gathered[CULPRIT] < LATE or time.monotonic() > give_up:
            return gathered
    return gathered


def cpu_group(state):
    state["cpu"] = dist.new_group(backend="gloo")


def test_durations_find_a_slow_rank(ranks):
    ranks.run(cpu_group)
    for durations in ranks.run(slow):
        fast = durations.pop(CULPRIT)
        assert fast < LATE <= min(durations)


# -- NaN in a gradient --


def train(state):
    """Rank 2 has a NaN in its batch; it aborts the group, or the others would wait."""
    model = torch.nn.Linear(3, 1, device="openreg")
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    x = tensor(2, 3)
    if dist.get_rank() == CULPRIT:
        x[0, 1] = float("nan")
    text = message(lambda: ddp(x).sum().backward())
    if dist.get_rank() == CULPRIT:
        dist.distributed_c10d._abort_process_group()
    return text


def test_the_nan_check_names_the_rank(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_DIST_NAN_CHECK", "1")
    group = Ranks(SIZE, tmp_path, "cpu:gloo,openreg:occl")
    texts = group.run(train)
    group.close()
    culprit = texts.pop(CULPRIT)
    if not has_changed("every group checks for NaN"):
        assert f"occl::all_reduce on rank {CULPRIT} of 4 in group 0" in culprit
        assert "would send a NaN, in a tensor of sizes [4]" in culprit
    else:  # torch looks before the group does
        assert "NaN found in input tensor" in culprit
    assert all(f"rank {CULPRIT} called abort()" in text for text in texts)


# -- what torch 2.15 records itself --


def states_of_torch(state):
    dist.all_reduce(tensor(2))
    openreg.synchronize()
    dumped = pickle.loads(c10d._dump_fr_trace(backend="occl"))
    return [(e["profiling_name"], e["state"]) for e in dumped["entries"]]


@pytest.mark.needs(release="2.15")
def test_torchs_recorder_has_completions_and_writes_after_a_failure(
    tmp_path, traces, monkeypatch
):
    monkeypatch.setenv("TORCH_FR_DUMP_TEMP_FILE", f"{traces}/rank_")
    group = Ranks(SIZE, tmp_path, "cpu:gloo,openreg:occl")
    assert group.run(states_of_torch) == [[("occl:all_reduce", "completed")]] * SIZE
    ours = tmp_path / "ours"
    ours.mkdir()
    group.run(other_shapes, str(ours))
    give_up = time.monotonic() + PATIENCE
    while len(list(traces.iterdir())) < SIZE and time.monotonic() < give_up:
        time.sleep(0.01)
    group.close()
    first, second = analyzed(traces)
    assert first.pass_check
    assert list(second.mismatch_collectives) == [CULPRIT]

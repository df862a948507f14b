# Counters, snapshot and history of memory are true; see docs/runtime/memory.md.
import pickle

import pytest
import torch
from torch.cuda import _memory_viz

MIB = 1 << 20
memory = torch.openreg.memory


def device_bytes(count: int) -> torch.Tensor:
    return torch.empty(count, dtype=torch.uint8, device="openreg")


EVERY_COUNTER = """
    import torch
    from torch.openreg import memory
    seen = set()
    def look():
        seen.update(name for name, value in memory.memory_stats().items() if value)
    def allocate(mib):
        return torch.empty(int(mib * 2**20), dtype=torch.uint8, device="openreg")
    side = torch.Stream("openreg")
    x = [allocate(0.5), allocate(3), allocate(40)]
    look()
    x[0].record_stream(side)
    x[1].record_stream(side)
    x.clear()
    try:
        allocate(1 << 24)
    except torch.OutOfMemoryError:
        pass
    pool = memory.MemPool()
    with memory.use_mem_pool(pool):
        x = [allocate(0.5), allocate(3)]
        look()
        del x
    name = f"reserved_bytes_by_private_pools.{pool.id[0]}_{pool.id[1]}."
    del pool
    memory.empty_cache()
    look()
    print(sorted(set(memory.memory_stats()) - seen), name + "all.freed" in seen)
    memory.reset_accumulated_memory_stats()
    memory.reset_peak_memory_stats()
    print({k: v for k, v in memory.memory_stats().items() if v})
"""


def test_no_counter_stays_zero(run_python):
    process = run_python(EVERY_COUNTER, PYTORCH_ALLOC_CONF="max_split_size_mb:32")
    assert process.stdout == f"[] True\n{{'max_split_size': {32 * MIB}}}\n", (
        process.stdout + process.stderr
    )


def test_statistics_agree_with_the_snapshot():
    x, y = device_bytes(3000), device_bytes(3 * MIB)
    y.record_stream(torch.Stream("openreg"))
    del y
    stats = memory.memory_stats()
    nested = memory.memory_stats_as_nested_dict()
    segments = [s for s in memory.memory_snapshot() if s["device"] == 0]
    blocks = [b for s in segments for b in s["blocks"]]
    split = [b for s in segments for b in s["blocks"] if len(s["blocks"]) > 1]
    allocated = [b for b in blocks if b["state"] == "active_allocated"]
    active = [b for b in blocks if b["state"] != "inactive"]
    inactive = [b for b in split if b["state"] == "inactive"]
    expected = {
        "allocation": len(allocated),
        "allocated_bytes": sum(b["size"] for b in allocated),
        "requested_bytes": sum(b["requested_size"] for b in allocated),
        "active": len(active),
        "active_bytes": sum(b["size"] for b in active),
        "inactive_split": len(inactive),
        "inactive_split_bytes": sum(b["size"] for b in inactive),
        "segment": len(segments),
        "reserved_bytes": sum(s["total_size"] for s in segments),
    }
    for name, value in expected.items():
        pools = [stats[f"{name}.{p}_pool.current"] for p in ("small", "large")]
        assert stats[f"{name}.all.current"] == value == sum(pools), name
        assert nested[name]["all"]["current"] == value
    assert "reserved_bytes" in memory.memory_summary()
    assert "large_pool" not in memory.memory_summary(abbreviated=True)
    del x


def test_the_profiler_is_told():
    # The allocation that fails would free what earlier tests have sent, and report it.
    torch.openreg.ipc_collect()
    memory.empty_cache()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        x = device_bytes(3 * MIB)
        del x
        with pytest.raises(torch.OutOfMemoryError):
            device_bytes(1 << 44)
    events = {e.key: e for e in profile.key_averages()}
    assert events["aten::empty"].self_device_memory_usage == 3 * MIB
    assert events["[memory]"].self_device_memory_usage == -3 * MIB
    assert "[OutOfMemory]" in {
        e.name() for e in profile.profiler.kineto_results.events()
    }


def test_a_pool_that_was_never_made_reports_one_error_and_no_other(run_forked):
    program = """
        import torch
        for arguments in ((), (None,)):
            try:
                torch.openreg.MemPool(*arguments)
            except (RuntimeError, TypeError) as error:
                print(type(error).__name__)
    """
    process = run_forked(program, OPENREG_DEVICE_COUNT="0")
    assert (process.stdout, process.stderr) == ("AcceleratorError\nTypeError\n", "")


HISTORY = """
    import pickle, torch
    from torch.openreg import memory
    memory._record_memory_history(stacks="python")
    def allocate_here(count):
        return torch.empty(count, dtype=torch.uint8, device="openreg")
    x, y = allocate_here(3 << 20), allocate_here(100)
    side = torch.Stream("openreg")
    y.record_stream(side)
    del y
    try:
        allocate_here(1 << 44)
    except torch.OutOfMemoryError:
        pass
    memory.empty_cache()
    memory._record_memory_history(None)
    allocate_here(7)
    memory._dump_snapshot("FILE")
"""


def test_torch_s_own_viewer_reads_the_snapshot(run_forked, tmp_path):
    file = tmp_path / "snapshot.pickle"
    process = run_forked(HISTORY.replace("FILE", str(file)))
    assert process.returncode == 0, process.stderr
    snapshot = pickle.loads(file.read_bytes())
    trace = snapshot["device_traces"][0]
    assert [(e["action"], e["size"]) for e in trace] == [
        ("segment_alloc", 20 * MIB), ("alloc", 3 * MIB),
        ("segment_alloc", 2 * MIB), ("alloc", 100),
        ("free_requested", 100), ("free_completed", 100),
        ("segment_free", 2 * MIB), ("oom", 1 << 44),
    ]  # fmt: skip
    assert trace[1]["frames"][0]["name"] == "allocate_here"
    assert trace[0]["time_us"] <= trace[-1]["time_us"]
    assert abs(trace[-1]["time_us"] / 1e6 - file.stat().st_mtime) < 60
    block = snapshot["segments"][0]["blocks"][0]
    assert block["frames"][0]["name"] == "allocate_here"
    assert "total_allocated: 3.0MiB" in _memory_viz.segsum(snapshot)
    assert "OutOfMemoryError" in _memory_viz.trace(snapshot)
    for plot in (_memory_viz.trace_plot, _memory_viz.segment_plot):
        assert "add_local_files" in plot(snapshot)
    lines = _memory_viz.memory(snapshot, format_flamegraph=str)
    assert "allocate_here" in lines


def test_what_the_history_leaves_out():
    try:
        memory._record_memory_history(
            context="state", stacks="python", max_entries=2, clear_history=True,
            skip_actions=["free_requested"],
        )  # fmt: skip
        for _ in range(3):
            device_bytes(1000)
        trace = memory._snapshot()["device_traces"][0]
        assert [e["action"] for e in trace] == ["alloc", "free_completed"]
        assert [e["frames"] for e in trace] == [[], []]
        memory._record_memory_history("state", stacks="python", clear_history=True)
        x = device_bytes(1000)
        snapshot = memory._snapshot()
        assert snapshot["device_traces"][0] == []
        blocks = [b for s in snapshot["segments"] for b in s["blocks"]]
        assert any(f["filename"] == __file__ for b in blocks for f in b["frames"])
        del x
        with pytest.raises(RuntimeError, match=r"expected context .* not 'none'"):
            memory._record_memory_history(context="none")
        with pytest.raises(ValueError, match="max_entries is 0"):
            memory._record_memory_history(max_entries=0)
    finally:
        memory._record_memory_history(None)

# The profiler: kernels below operators, streams, ranges; see docs/modules/profiler.md.
import gzip
import itertools
import json
import os
import runpy
import threading
from pathlib import Path

import pytest
import torch
from profiles import BOTH, CALL, ON_DEVICE, averages, profiled, read_trace, trace_of
from torch.profiler import (
    ExecutionTraceObserver,
    ProfilerActivity,
    profile,
    record_function,
    supported_activities,
)

EXAMPLE = Path(__file__).parents[1] / "examples/profiled.py"


@pytest.fixture(scope="module")
def rendezvous(request):
    """Operators whose kernels meet: two on two streams run at the same time."""
    compile_cpp = request.getfixturevalue("compile_cpp")
    torch.ops.load_library(compile_cpp("rendezvous"))
    return torch.ops.openreg_rendezvous


def step(size=64):
    """Work of every kind: kernels, copies both ways, a fill, a backward."""
    x = torch.randn(size, size, device="openreg", requires_grad=True)
    w = torch.ones(size, size).to("openreg")
    loss = (x @ w).relu().sum()
    loss.backward()
    x.grad.zero_()
    return loss.item()


def check_links(trace):
    """Every piece of work has a call that launched it, and the operator it is from."""
    calls = {call.args["correlation"]: call for call in trace.of(CALL)}
    assert len(calls) == len(trace.of(CALL)), "numbers of calls repeat"
    ops = {op.args["External id"]: op for op in trace.of("cpu_op")}
    for work in trace.of(*ON_DEVICE):
        call = calls[work.args["correlation"]]
        assert work.begin >= call.begin
        op = ops[work.args["External id"]]
        assert call.args["External id"] == work.args["External id"]
        assert op.holds(call), (op, call)
        assert (op.pid, op.row) == (call.pid, call.row)
        arrow = trace.flows[work.args["correlation"]]
        assert arrow["s"][:2] == (call.pid, call.row)
        assert arrow["f"][:2] == (work.pid, work.row)
    return calls


def check_order(trace):
    """Work of one stream never overlaps."""
    for works in trace.streams().values():
        for earlier, later in itertools.pairwise(works):
            assert earlier.end <= later.begin, (earlier, later)


@pytest.mark.smoke
def test_the_device_is_among_the_activities():
    assert ProfilerActivity.PrivateUse1 in supported_activities()
    assert ProfilerActivity.OPENREG is ProfilerActivity.PrivateUse1
    assert str(ProfilerActivity.PrivateUse1) == "ProfilerActivity.OPENREG"


def test_every_piece_of_work_is_below_the_operator_that_launched_it():
    trace = trace_of(profiled(step))
    check_links(trace)
    check_order(trace)
    found = {(work.name, trace.op_of(work).name) for work in trace.of(*ON_DEVICE)}
    assert {
        ("mm", "aten::mm"),
        ("relu", "aten::relu"),
        ("threshold_backward", "aten::threshold_backward"),
        ("Memcpy HtoD (Pageable -> Device)", "aten::_copy_from"),
        ("Memcpy DtoH (Device -> Pageable)", "aten::_local_scalar_dense"),
        ("Memset (Device)", "aten::zero_"),
    } <= found
    bytes_copied = {
        work.name: work.args["bytes"] for work in trace.of("gpu_memcpy", "gpu_memset")
    }
    assert bytes_copied["Memcpy HtoD (Pageable -> Device)"] == 64 * 64 * 4
    assert bytes_copied["Memcpy DtoH (Device -> Pageable)"] == 4
    assert bytes_copied["Memset (Device)"] == 64 * 64 * 4
    calls = {call.name for call in trace.of(CALL)}
    assert {"orLaunchKernel", "orMemcpyAsync", "orMemsetAsync"} <= calls
    assert {"orStreamSynchronize", "orDeviceSynchronize"} <= calls


@pytest.mark.smoke
@pytest.mark.parametrize("activities", [None, BOTH, [ProfilerActivity.OPENREG]])
def test_activities(activities):
    torch.openreg.synchronize()
    with profile(activities=activities) as prof:
        torch.ones(3, device="openreg") + 1
    trace = trace_of(prof)
    assert [work.name for work in trace.of("kernel")] == ["fill_", "add"]
    assert len(trace.of(CALL)) >= 2
    assert bool(trace.of("cpu_op")) == (activities != [ProfilerActivity.OPENREG])


def test_a_profile_of_the_cpu_alone_has_nothing_of_the_device():
    prof = profiled(step, activities=[ProfilerActivity.CPU])
    assert not trace_of(prof).of(CALL, *ON_DEVICE)
    assert not any("OPENREG" in line for line in prof.key_averages().table().split())


def test_kinds_can_be_chosen():
    chosen = [{ProfilerActivity.OPENREG: ["GPU_MEMCPY"]}]
    trace = trace_of(profiled(step, activities=chosen))
    assert {piece.kind for piece in trace.slices} == {"gpu_memcpy"}


def test_device_time_is_that_of_the_kernels():
    prof = profiled(step)
    trace = trace_of(prof)
    rows = averages(prof)
    for name in ("mm", "relu", "threshold_backward"):
        spent = sum(w.end - w.begin for w in trace.of("kernel") if w.name == name)
        assert rows[name].self_device_time_total == pytest.approx(spent, abs=0.01)
        op = rows[f"aten::{name}"]
        assert op.self_device_time_total == pytest.approx(spent, abs=0.01)
    whole = sum(work.end - work.begin for work in trace.of(*ON_DEVICE))
    operators = [row for name, row in rows.items() if "::" in name]
    counted = sum(row.self_device_time_total for row in operators)
    assert counted == pytest.approx(whole, abs=0.1), "something counts twice"
    table = prof.key_averages().table(sort_by="self_device_time_total")
    assert "Self OPENREG" in table
    assert "Self OPENREG time total" in table
    assert "CUDA" not in table


def test_a_stream_keeps_order_and_streams_overlap(rendezvous):
    x = torch.zeros(1, device="openreg")
    first, second = torch.openreg.Stream(), torch.openreg.Stream()

    def meet_twice():
        for _ in range(2):
            rendezvous.new_meeting()
            for stream in (first, second):
                with torch.openreg.stream(stream):
                    rendezvous.meet(x)
                    x + 1

    trace = trace_of(profiled(meet_twice))
    check_links(trace)
    check_order(trace)
    rows = trace.streams()
    assert len(rows) == 2
    meetings = [[w for w in row if w.name == "meet"] for row in rows.values()]
    for left, right in zip(*meetings, strict=True):
        assert max(left.begin, right.begin) < min(left.end, right.end)


@pytest.mark.smoke
def test_the_example_of_the_page(tmp_path):
    path = tmp_path / "trace.json"
    runpy.run_path(str(EXAMPLE))["main"](str(path))
    trace = read_trace(path)
    check_links(trace)
    check_order(trace)
    copies, products = (
        sorted(row, key=lambda work: work.begin)
        for row in sorted(trace.streams().values(), key=lambda row: row[0].kind)
    )
    assert {work.name for work in copies} == {"Memcpy HtoD (Pinned -> Device)"}
    assert {work.name for work in products} == {"mm"}
    for copy, product in zip(copies, products, strict=True):
        assert copy.end <= product.begin, "the stream did not wait"


def test_rows_have_names():
    def on_both_devices():
        for device in range(2):
            with torch.openreg.device(device):
                torch.ones(2, device="openreg")
                with torch.openreg.stream(torch.openreg.Stream()):
                    torch.ones(2, device="openreg")
                torch.openreg.synchronize()

    trace = trace_of(profiled(on_both_devices))
    rows = trace.streams()
    assert {device for device, _ in rows} == {0, 1}
    assert len(rows) == 4
    for device, stream in rows:
        assert trace.processes[device] == f"openreg:{device}"
        assert trace.rows[device, stream] == f"openreg:{device} stream {stream}"
    check_links(trace)
    assert set(trace.processes) == {0, 1, os.getpid()}
    host = {(call.pid, call.row) for call in trace.of(CALL)}
    assert host <= set(trace.rows), "the thread also has a name"


def test_ranges_show_on_the_streams():
    stream = torch.openreg.Stream()

    def ranges():
        with record_function("outer"):
            torch.ones(2, device="openreg")
            with record_function("inner"):
                torch.ones(2, device="openreg") + 1
            with torch.openreg.stream(stream):
                torch.ones(2, device="openreg")
            stream.synchronize()
        with record_function("empty"):
            pass

    trace = trace_of(profiled(ranges))
    found = [(r.name, r.row == 0) for r in trace.of("gpu_user_annotation")]
    assert sorted(found) == [("inner", True), ("outer", False), ("outer", True)]
    kernels = trace.streams()[0, 0]
    by_name = {r.name: r for r in trace.of("gpu_user_annotation") if r.row == 0}
    assert all(by_name["outer"].holds(kernel) for kernel in kernels)
    inside = [by_name["inner"].holds(kernel) for kernel in kernels]
    assert inside == [False, True, True]


def test_backward_work_is_linked_to_the_forward():
    trace = trace_of(profiled(step))
    by_name = {op.name: op for op in trace.of("cpu_op")}
    node = by_name["ReluBackward0"]
    assert node.row != by_name["aten::relu"].row, "the engine has its own thread"
    (kernel,) = [w for w in trace.of("kernel") if w.name == "threshold_backward"]
    assert node.holds(trace.op_of(kernel))
    assert node.args["Sequence number"] == by_name["aten::relu"].args["Sequence number"]
    arrows = [e for e in trace.whole["traceEvents"] if e.get("cat") == "fwdbwd"]
    assert {"s", "f"} == {arrow["ph"] for arrow in arrows}


def test_memory():
    def allocate():
        with record_function("kept"):
            kept = torch.empty(1 << 20, dtype=torch.uint8, device="openreg")
        with record_function("freed"):
            torch.empty(1 << 16, dtype=torch.uint8, device="openreg")
        return kept

    prof = profiled(allocate, profile_memory=True)
    rows = averages(prof)
    assert rows["kept"].device_memory_usage == 1 << 20
    assert rows["freed"].device_memory_usage == 0
    assert "Self OPENREG Mem" in prof.key_averages().table()
    marks = [e for e in trace_of(prof).whole["traceEvents"] if e["name"] == "[memory]"]
    on_device = [m["args"] for m in marks if m["args"]["Device Type"] == 20]
    assert [m["Bytes"] for m in on_device] == [
        *(1 << 20, 1 << 16),
        *(-(1 << 16), -(1 << 20)),
    ]
    assert {"Total Allocated", "Total Reserved", "Addr"} <= set(on_device[0])


def test_out_of_memory_is_an_event():
    def too_much():
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(1 << 50, dtype=torch.uint8, device="openreg")

    prof = profiled(too_much, profile_memory=True)
    assert "[OutOfMemory]" in {event.name for event in prof.events()}


def test_shapes_and_stacks(tmp_path):
    verbose = torch._C._profiler._ExperimentalConfig(verbose=True)
    options = {"record_shapes": True, "with_stack": True}
    prof = profiled(step, experimental_config=verbose, **options)
    shapes = {
        tuple(map(tuple, row.input_shapes))
        for row in prof.key_averages(group_by_input_shape=True)
        if row.key == "aten::mm"
    }
    assert shapes == {((64, 64), (64, 64))}
    mm = next(event for event in prof.events() if event.name == "aten::mm")
    assert [kernel.name for kernel in mm.kernels] == ["mm"]
    path = tmp_path / "stacks.txt"
    prof.export_stacks(str(path), "self_cpu_time_total")
    assert "test_profiler.py" in path.read_text()


@pytest.mark.filterwarnings("ignore:.export_memory_timeline. is deprecated")
def test_memory_timeline(tmp_path):
    options = {"record_shapes": True, "with_stack": True, "profile_memory": True}
    path = tmp_path / "memory.raw.json.gz"
    profiled(step, **options).export_memory_timeline(str(path))
    actions = json.loads(gzip.decompress(path.read_bytes()))
    sizes = {size for _, _, size, _ in actions}
    assert 64 * 64 * 4 in sizes


def test_flops_and_execution_trace(tmp_path):
    path = tmp_path / "execution.json"
    observer = ExecutionTraceObserver().register_callback(str(path))
    prof = profiled(step, with_flops=True, execution_trace_observer=observer)
    assert averages(prof)["aten::mm"].flops == 2 * 2 * 64**3
    assert "aten::mm" in {n["name"] for n in json.loads(path.read_text())["nodes"]}


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")
def test_steps():
    ready = []

    def on_trace_ready(prof):
        ready.append(trace_of(prof))

    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    torch.openreg.synchronize()
    with profile(activities=BOTH, schedule=plan, on_trace_ready=on_trace_ready) as prof:
        for number in range(8):
            torch.full((2,), number, device="openreg")
            prof.step()
    assert len(ready) == 2
    for round_, trace in enumerate(ready):
        steps = [f"ProfilerStep#{4 * round_ + 2 + index}" for index in range(2)]
        for kind in ("user_annotation", "gpu_user_annotation"):
            assert [r.name for r in trace.of(kind)] == steps
        assert [work.name for work in trace.of("kernel")] == ["fill_", "fill_"]
        check_links(trace)


def test_tensorboard_handler(tmp_path):
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path), "worker")
    with profile(activities=BOTH, on_trace_ready=handler):
        torch.ones(1, device="openreg")
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("worker.")
    assert '"kernel"' in file.read_text()


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_events_add_up():
    plan = torch.profiler.schedule(wait=0, warmup=0, active=1, repeat=3)
    with profile(activities=BOTH, schedule=plan, acc_events=True) as prof:
        for _ in range(3):
            torch.ones(1, device="openreg")
            prof.step()
    assert averages(prof)["fill_"].count == 3


def test_profiles_follow_each_other():
    for count in (1, 2, 3):
        prof = profiled(lambda count=count: [step(8) for _ in range(count)])
        trace = trace_of(prof)
        check_links(trace)
        assert [w.name for w in trace.of("kernel")].count("mm") == 2 * count


def test_threads():
    """Threads that the profiler does not watch: their work shows without operators."""
    main = threading.get_native_id()

    def work():
        for _ in range(50):
            torch.ones(4, device="openreg") * 2

    def in_threads():
        others = [threading.Thread(target=work) for _ in range(3)]
        for thread in others:
            thread.start()
        work()
        for thread in others:
            thread.join()

    trace = trace_of(profiled(in_threads))
    check_order(trace)
    kernels = trace.of("kernel")
    calls = {call.args["correlation"]: call for call in trace.of(CALL)}
    assert len(kernels) == 4 * 100
    assert len({calls[kernel.args["correlation"]].row for kernel in kernels}) == 4
    for kernel in kernels:
        watched = calls[kernel.args["correlation"]].row == main
        assert ("External id" in kernel.args) == watched
    everyone = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    trace = trace_of(profiled(in_threads, experimental_config=everyone))
    assert len(trace.of("kernel")) == 4 * 100
    check_links(trace)

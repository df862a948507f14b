# The guard: its table in the guide, its rules, its trace; see docs/runtime/guard.md.
import re
import threading

import pytest
import torch
from contract import CSRC, Trace, action, code, table, virtuals, wrong_needs

HEADER = "c10/core/impl/DeviceGuardImplInterface.h"
VIRTUALS = virtuals(HEADER, "struct C10_API DeviceGuardImplInterface {")
ROWS = table("runtime/guard.md", "Member")
DEVICE = "openreg"


@pytest.fixture(scope="module")
def trace(compile_cpp):
    return Trace(compile_cpp("trace"))


@pytest.fixture(scope="module")
def calls(compile_cpp):
    torch.ops.load_library(compile_cpp("calls"))
    return torch.ops.openreg_calls


# -- the table --


def test_the_table_has_each_member_with_its_kind():
    assert {code(row[0])[0]: row[1] for row in ROWS} == VIRTUALS


def test_our_guard_overrides_each_member():
    text = (CSRC / "runtime/interface/OpenRegGuardImpl.h").read_text()
    ours = re.findall(r"(\w+)\([^()]*\) const (?:noexcept )?override", text)
    assert sorted(ours) == sorted(VIRTUALS)


def test_the_table_says_when_a_backend_needs_a_member():
    assert wrong_needs(ROWS, 2, "StarterGuardImpl.cpp") == []


CALLS = (
    "torch.accelerator.current_device_index()",
    "torch.accelerator.set_device_index(0)",
    "torch.accelerator.current_stream()",
    "torch.accelerator.set_stream(stream)",
    "torch.accelerator.synchronize()",
    "torch.accelerator.get_device_capability()",
    "with device_index: pass",
    "torch.Stream('openreg')",
    "with stream: pass",
    "with stream_of_another_device: pass",
    "stream.query()",
    "stream.synchronize()",
    "stream.native_handle",
    "stream.is_capturing()",
    "stream.wait_stream(other)",
    "stream.wait_event(event)",
    "stream.record_event(event)",
    "torch.Event('openreg')",
    "event.record(stream)",
    "event.wait(other)",
    "event.query()",
    "event.synchronize()",
    "event.elapsed_time(end)",
    "del event",
    "Future(devices=devices)",
    "future.then(callback)",
    "future.set_result(x)",
    "future.wait()",
    "del future",
    "backward(y, gradient)",
    "x[0]",
)


def prepare(line: str) -> dict[str, object]:
    """Return what a line above needs, with no work left on the device."""
    stream, other = torch.Stream(DEVICE), torch.Stream(DEVICE)
    event, end = (torch.Event(DEVICE, enable_timing=True) for _ in range(2))
    x, weight = torch.ones(4, device=DEVICE), torch.ones(4, device=DEVICE)
    devices = [torch.device("openreg:0")]
    future = torch.futures.Future(devices=devices)
    chained = None
    if line == "future.set_result(x)":
        chained = future.then(lambda it: it.value())
    elif line in ("future.wait()", "del future"):
        future, first = future.then(lambda it: it.value()), future
        first.set_result(x)
    event.record(stream)
    end.record(stream)
    torch.accelerator.synchronize()
    torch.accelerator.get_device_capability.cache_clear()
    return {
        "stream": stream,
        "other": other,
        "event": event,
        "end": end,
        "x": x,
        "stream_of_another_device": torch.Stream("openreg:1"),
        "device_index": torch.accelerator.device_index(1),
        "Future": torch.futures.Future,
        "devices": devices,
        "future": future,
        "callback": lambda it: it.value(),
        "chained": chained,
        "backward": torch.autograd.backward,
        "y": weight.requires_grad_().view(4),
        "gradient": torch.empty_like(x),
    }


def test_the_table_says_who_calls_a_member_and_how(trace):
    warm = prepare("")  # the first pass of a process also starts the engine's threads
    torch.autograd.backward(warm["y"], warm["gradient"])
    callers: dict[str, set[str]] = {name: set() for name in VIRTUALS}
    locks: dict[str, set[str]] = {name: set() for name in VIRTUALS}
    threads: dict[str, set[str]] = {name: set() for name in VIRTUALS}
    for line in CALLS:
        for member, lock, thread in trace(line, prepare(line)):
            owner, name = member.split(".")
            if owner == "Guard":
                callers[name].add(action(line))
                locks[name].add({"gil": "yes", "-": "no"}[lock])
                engine = thread.startswith("pt_autograd")
                threads[name].add("engine" if engine else "caller")
    measured = [
        [name, callers[name], ", ".join(sorted(locks[name], reverse=True)) or "-",
         ", ".join(sorted(threads[name])) or "-"]
        for name in VIRTUALS
    ]  # fmt: skip
    told = [[code(row[0])[0], set(code(row[2])), row[3], row[4]] for row in ROWS]
    assert sorted(told) == sorted(measured)


@pytest.mark.parametrize(
    "line",
    [
        "torch.Event('openreg').record()",
        "(torch.accelerator.synchronize(), event.elapsed_time(end))",
        "with torch.Stream('openreg'): pass",
        "with stream: event.record()",
        "torch.accelerator.set_stream(torch.accelerator.current_stream())",
        "torch.ones(4).resize_(64)",
        "torch.autograd.backward(weight.view(4), x)",
        "x[0] + x[1]",
        "event = torch.Event('openreg')",
        "event.record(); event.synchronize()",
        "stream.native_handle; event.query()",
        "lambda: x[0]",
    ],
)
def test_a_traced_line_contains_no_preparation(trace, line):
    with pytest.raises(ValueError, match="not one action"):
        trace(line)


# -- what each member must keep to --


def test_each_thread_has_its_own_device_and_streams(calls):
    seen = []

    def work(index):
        seen.append(torch.accelerator.current_device_index())
        torch.openreg.set_device(index)
        torch.accelerator.set_stream(torch.Stream("openreg"))
        seen.append(torch.accelerator.current_device_index())

    stream = torch.accelerator.current_stream()
    thread = threading.Thread(target=work, args=(1,))
    thread.start()
    thread.join()
    assert seen == [0, 1]
    assert torch.accelerator.current_device_index() == 0
    assert torch.accelerator.current_stream() == stream


@pytest.mark.parametrize("index", [-1, 2, 99, 127])
def test_a_device_that_does_not_exist_is_refused_and_nothing_changes(calls, index):
    for member in (calls.set_device, calls.exchange_device, calls.capability):
        if index == -1 and member is calls.capability:
            continue  # no index: the current device
        with pytest.raises(torch.AcceleratorError, match=f"device .*{index}"):
            member(index)
        assert calls.exchange_device(0) == 0
    calls.unchecked_set_device(index)  # noexcept: no error is reported
    assert calls.exchange_device(0) == 0


def test_exchange_returns_the_former_device(calls):
    assert calls.exchange_device(1) == 0
    assert calls.exchange_device(1) == 1
    assert calls.exchange_device(0) == 1


@pytest.mark.parametrize("index", [0, 1])
def test_guards_put_back_device_and_stream_when_an_exception_leaves(calls, index):
    streams = [calls.stream(i) for i in range(2)]
    with pytest.raises(ValueError, match=f"thrown on device {index}"):
        calls.throw_under_guards(index)
    assert torch.openreg.current_device() == 0
    assert [calls.stream(i) for i in range(2)] == streams


def test_the_default_stream_is_not_the_current_one(calls):
    with torch.Stream("openreg"):
        assert calls.default_stream(0) == 0
        assert calls.stream(0) != 0


NOEXCEPT = """
    import torch
    torch.ops.load_library({library!r})
    calls = torch.ops.openreg_calls
    {prepare}
    def use():
        calls.unchecked_set_device(1)
        calls.unchecked_set_device(99)
        print(calls.device_count(), flush=True)
"""


def test_noexcept_members_survive_a_faulted_device(calls, compile_cpp, run_forked):
    library = str(compile_cpp("calls"))
    process = run_forked(
        NOEXCEPT.format(library=library, prepare="event = calls.record_event()")
        + """
    x = torch.empty(1, device="openreg")
    torch.openreg.simulator.fail_kernel()
    x.fill_(1)
    try:
        torch.openreg.synchronize()
    except torch.AcceleratorError:
        print("faulted")
    use()
    calls.destroy_event(event)
    calls.unchecked_set_device(0)
    print("alive")
    """
    )
    assert process.stdout == "faulted\n2\nalive\n", process.stderr


def test_noexcept_members_survive_in_a_forked_child(calls, compile_cpp, run_forked):
    library = str(compile_cpp("calls"))
    process = run_forked(
        NOEXCEPT.format(library=library, prepare="event = calls.record_event()")
        + """
    import os
    child = os.fork()
    if child == 0:
        use()
        calls.destroy_event(event)
        print(calls.stream(1), flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    """
    )
    assert process.stdout == "2\n0\n0\n", process.stderr


@pytest.mark.parametrize("count", ["0", "many"])
def test_noexcept_members_survive_without_a_device(compile_cpp, run_forked, count):
    program = (
        NOEXCEPT.format(library=str(compile_cpp("calls")), prepare="") + "    use()"
    )
    process = run_forked(program, OPENREG_DEVICE_COUNT=count)
    assert process.stdout == "0\n", process.stderr


# -- dtypes --


def _works(dtype: torch.dtype) -> bool:
    """Whether a tensor can be made, filled, copied and converted, with right values."""
    host = torch.tensor([0.0, 1.0, 2.0])
    try:
        x = torch.empty(3, dtype=dtype, device="openreg").fill_(1)
        made = host.to("openreg").to(dtype)
        back = made.cpu()
    except (NotImplementedError, RuntimeError):
        return False
    assert x.dtype == made.dtype == dtype
    wide = torch.complex128 if dtype.is_complex else torch.float64
    assert torch.equal(back.to(wide), host.to(dtype).to(wide))
    assert torch.equal(x.to(wide).cpu(), torch.ones(3).to(dtype).to(wide))
    return True


@pytest.mark.filterwarnings("ignore")
def test_capability_is_what_works_and_nothing_else():
    torch.accelerator.get_device_capability.cache_clear()
    dtypes = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    works = {dtype for dtype in dtypes if _works(dtype)}
    assert torch.accelerator.get_device_capability()["supported_dtypes"] == works


@pytest.mark.filterwarnings("ignore")
def test_what_the_cpu_adds_the_device_adds():
    for dtype in torch.accelerator.get_device_capability()["supported_dtypes"]:
        x = torch.tensor([1.0, 0.0]).to(dtype)
        try:
            expected = x + x
        except NotImplementedError:
            with pytest.raises(NotImplementedError, match="add"):
                x.to("openreg") + x.to("openreg")
        else:
            found = (x.to("openreg") + x.to("openreg")).cpu()
            assert found.dtype == dtype
            assert found.tolist() == expected.tolist()


# -- the trace for tools --


def test_the_trace_module_has_what_torch_looks_up():
    import torch.xpu._gpu_trace as xpu
    from torch_openreg.openreg import _gpu_trace

    wanted = [name for name in dir(xpu) if "allback" in name and name[0] != "_"]
    assert [name for name in wanted if not hasattr(_gpu_trace, name)] == []


TRACE = """
    import threading, torch
    from torch.openreg import _gpu_trace
    seen = []
    for name in dir(_gpu_trace):
        if name.startswith("register_callback_for_"):
            what = name.removeprefix("register_callback_for_")
            getattr(_gpu_trace, name)(lambda *a, what=what: seen.append((what, *a)))
    ACTIVATE
    stream = torch.Stream("openreg")
    event = torch.Event("openreg")
    event.record(stream)
    event.record(stream)
    event.wait(stream)
    event.query()
    event.synchronize()
    stream.synchronize()
    torch.accelerator.synchronize()
    torch.openreg.synchronize(1)
    handle = event.event_id
    del event
    seen = [call for call in seen if "memory" not in call[0]]
"""


def test_the_trace_tells_each_event_in_order(run_forked):
    program = TRACE.replace("ACTIVATE", "torch._C._activate_gpu_trace()")
    program += """
    s, e = stream.native_handle, handle
    expected = [("stream_creation", s), ("event_creation", e), ("event_record", e, s),
                ("event_record", e, s), ("event_wait", e, s),
                ("event_synchronization", e), ("stream_synchronization", s),
                ("device_synchronization",), ("device_synchronization",),
                ("event_deletion", e)]
    print(seen == expected, seen if seen != expected else "")
    """
    process = run_forked(program)
    assert process.stdout.split() == ["True"], process.stdout + process.stderr


def test_the_trace_is_silent_until_it_is_switched_on(run_forked):
    process = run_forked(TRACE.replace("ACTIVATE", "") + "    print(seen)")
    assert process.stdout == "[]\n", process.stderr


def test_a_callback_that_raises_does_not_stop_the_call(run_forked):
    program = """
        import torch
        from torch.openreg import _gpu_trace
        def fail(*handles):
            raise ValueError("from the callback")
        _gpu_trace.register_callback_for_event_record(fail)
        torch._C._activate_gpu_trace()
        event = torch.Event("openreg")
        event.record()
        event.synchronize()
        print(event.query())
    """
    process = run_forked(program)
    assert process.stdout == "True\n", process.stderr
    assert "from the callback" in process.stderr

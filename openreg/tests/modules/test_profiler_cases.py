# Profiles of work that fails, waits or goes on; and times without Kineto; see
# docs/modules/profiler.md.
import ctypes
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch
import torch_openreg
from profiles import BOTH, CALL, ON_DEVICE, averages, profiled, trace_of
from torch.autograd import profiler as autograd_profiler
from torch.openreg import simulator
from torch.profiler import ProfilerActivity, profile


def kernels(prof):
    return [work.name for work in trace_of(prof).of("kernel")]


def test_work_from_before_is_left_out():
    stream = torch.openreg.Stream()
    with simulator.hold(stream), torch.openreg.stream(stream):
        x = torch.ones(2, device="openreg")
        with profile(activities=BOTH) as prof:
            y = x + 1
            simulator.reset()  # the profile ends with a synchronization
    assert y.tolist() == [2.0, 2.0]
    assert kernels(prof) == ["add"]


def test_work_that_has_not_run_is_told(capfd):
    """The profiler waits for the current device; the other one is held."""
    torch.openreg.synchronize()
    with torch.openreg.device(1):
        stream = torch.openreg.Stream()
    with simulator.hold(stream), profile(activities=BOTH) as prof:
        with torch.openreg.stream(stream):
            x = torch.ones(2, device="openreg:1")
        torch.ones(1, device="openreg")
    assert kernels(prof) == ["fill_"]
    told = capfd.readouterr().err
    assert "1 task(s) had not run when the profile ended" in told
    assert "torch.openreg.synchronize(device)" in told
    stream.synchronize()
    assert x.tolist() == [1.0, 1.0]


def test_a_kernel_is_not_made_of_operators():
    """Here its body is one of ATen's CPU kernels, and any thread may run it."""
    x = torch.ones(4, device="openreg")
    everyone = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    prof = profiled(x.relu, experimental_config=everyone)
    names = [op.name for op in trace_of(prof).of("cpu_op")]
    assert names == ["aten::relu"]


def test_a_recorder_that_is_not_the_profiler_is_told(capfd):
    driver = ctypes.CDLL(Path(torch_openreg.__file__).parent / "lib/libopenreg.so")
    ignore = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
    assert driver.orActivityStart(ignore, None, None) == 0
    prof = profiled(lambda: torch.ones(2, device="openreg"))
    assert driver.orActivityStop(ctypes.byref(ctypes.c_size_t())) == 0
    assert kernels(prof) == []
    told = capfd.readouterr().err
    assert "device: orActivityStart(): a recording is already active" in told


def test_delays_are_not_kernel_time():
    def delayed():
        with simulator.delay(20_000):
            (torch.ones(2, device="openreg") + 1).cpu()

    trace = trace_of(profiled(delayed))
    calls = {call.args["correlation"]: call for call in trace.of(CALL)}
    for work in trace.of(*ON_DEVICE):
        assert work.begin - calls[work.args["correlation"]].begin > 20_000


def test_a_fault_keeps_the_profile_open(run_forked):
    process = run_forked(
        """
        import ctypes, torch, torch_openreg
        from torch.profiler import profile
        x = torch.ones(2, device="openreg")
        prof = profile()
        prof.start()
        x * 3
        torch.openreg.simulator.fail_kernel("add")
        x + 1
        try:
            prof.stop()
        except torch.AcceleratorError as error:
            print("kernel 'add'" in str(error))
        driver = torch_openreg.__path__[0] + "/lib/libopenreg.so"
        ctypes.CDLL(driver).orDeviceReset()
        prof.stop()
        print([e.name for e in prof.events() if e.name in ("mul", "add")])
        with profile() as prof:
            x * 2
        print([e.name for e in prof.events() if e.name in ("mul", "add")])
        """
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "True\n['mul', 'add']\n['mul']\n"


def test_a_profile_can_be_closed_behind_a_fault(run_forked):
    process = run_forked(
        """
        import torch
        x = torch.ones(2, device="openreg")
        torch.openreg.simulator.fail_kernel("add")
        try:
            with torch.profiler.profile():
                x * 3
                x + 1
        except torch.AcceleratorError:
            events = torch.autograd._disable_profiler().events()
            print([e.name() for e in events if e.name() in ("mul", "add")])
        """
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "['mul', 'add']\n"


def test_kineto_can_be_quiet_or_tell_all(run_python):
    program = """
        import torch
        with torch.profiler.profile():
            torch.ones(2, device="openreg")
    """
    told = run_python(program, KINETO_LOG_LEVEL="0").stderr
    assert "profiler_start" in told
    assert "Running child profiler openreg" in told
    assert run_python(program, KINETO_LOG_LEVEL="6").stderr == ""


def test_a_profile_that_stays_open_ends_the_process_by_a_signal(run_forked):
    process = run_forked(
        """
        import torch
        torch.profiler.profile().start()
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert process.returncode == -11, process.stderr


def test_records_cannot_be_switched_off_inside_a_profile(capfd, tmp_path):
    with profile() as prof:
        prof.toggle_collection_dynamic(False, [ProfilerActivity.OPENREG])
        torch.ones(2, device="openreg")
    assert kernels(prof) == ["fill_"]
    assert "Dynamic toggle is only supported for CPU/GPU" in capfd.readouterr().err
    with pytest.raises(RuntimeError, match="Trace is already saved"):
        prof.export_chrome_trace(str(tmp_path / "again.json"))


def test_a_profile_inside_a_profile_takes_its_place(capfd):
    with profile(activities=BOTH) as outer:
        torch.ones(2, device="openreg")
        torch.openreg.synchronize()
        with profile(activities=BOTH) as inner:
            torch.ones(2, device="openreg") + 1
    assert kernels(inner) == ["fill_", "add"]
    assert "no active profiling session found" in capfd.readouterr().err
    assert len(outer.events()) == 0
    assert kernels(profiled(lambda: torch.ones(2, device="openreg"))) == ["fill_"]


def test_a_forked_child_may_profile_the_cpu(run_forked):
    process = run_forked(
        """
        import os, sys, torch
        from torch.profiler import ProfilerActivity, profile
        x = torch.ones(2, device="openreg")
        with profile():
            x + 1
        if os.fork() == 0:
            with profile(activities=[ProfilerActivity.CPU]) as prof:
                torch.ones(2) + 1
            print(sorted(row.key for row in prof.key_averages()), flush=True)
            prof = profile()
            prof.start()
            try:
                prof.stop()
            except RuntimeError as error:
                print(str(error)[:21], flush=True)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        """
    )
    assert process.returncode == 0, process.stderr
    assert "'aten::add'" in process.stdout
    assert "not contain any work of the device: orActivityStart()" in process.stderr
    assert process.stdout.endswith("Cannot re-initialize \n0\n")


def test_a_fork_during_a_profile(run_forked):
    process = run_forked(
        """
        import os, torch
        from torch.profiler import profile
        with profile() as prof:
            x = torch.ones(2, device="openreg")
            torch.openreg.synchronize()
            if os.fork() == 0:
                os._exit(0)
            print(os.waitstatus_to_exitcode(os.wait()[1]))
            x + 1
        print([e.name for e in prof.events() if e.name in ("fill_", "add")])
        """
    )
    assert process.stdout == "0\n['fill_', 'add']\n", process.stderr


def test_the_backend_may_come_after_the_profiler(run_forked):
    process = run_forked(
        """
        import torch
        from torch.profiler import profile
        with profile():
            torch.ones(2)
        import torch_openreg
        with profile() as prof:
            torch.ones(2, device="openreg")
        print([e.name for e in prof.events() if e.name == "fill_"])
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert process.stdout == "['fill_']\n", process.stderr


@pytest.mark.parametrize("count", ["0", "2"])
def test_a_device_that_was_never_used_is_not_started(run_forked, count):
    process = run_forked(
        """
        import torch
        from torch.profiler import profile
        with profile() as prof:
            torch.ones(2)
        print(torch.openreg.is_initialized(), len(prof.events()))
        """,
        OPENREG_DEVICE_COUNT=count,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "False 3\n"


def test_fallbacks_have_a_range():
    x = torch.randn(4, device="openreg")
    prof = profiled(lambda: torch.special.bessel_j0(x))
    trace = trace_of(prof)
    (fallback,) = [op for op in trace.of("cpu_op") if "cpu_fallback" in op.name]
    ops = [op for op in trace.of("cpu_op") if op.name == "aten::special_bessel_j0"]
    assert any(op.holds(fallback) for op in ops)
    copies = trace.of("gpu_memcpy")
    assert len(copies) >= 2
    assert all(fallback.holds(trace.op_of(copy)) for copy in copies)


# -- times without Kineto --


def without_kineto(call):
    options = {"use_device": "openreg", "use_kineto": False}
    with autograd_profiler.profile(**options) as prof:
        call()
    return prof


def test_events_time_operators():
    stream = torch.openreg.Stream()

    def work():
        x = torch.ones(64, 64, device="openreg")
        with torch.openreg.stream(stream):
            return x @ x

    torch.openreg.synchronize()
    prof = without_kineto(work)
    rows = averages(prof)
    assert rows["aten::mm"].device_time_total > 0
    assert rows["aten::matmul"].device_time_total >= rows["aten::mm"].device_time_total
    assert "mm" not in rows, "events know no kernels"
    assert "OPENREG total" in prof.key_averages().table()


def test_events_time_what_the_device_does_not_what_the_host_does():
    def work():
        x = torch.ones(2, device="openreg")
        torch.openreg.synchronize()
        with simulator.delay(300_000):  # a busy machine may stop the host for a while
            x + 1
            torch.openreg.synchronize()

    rows = averages(without_kineto(work))
    assert rows["aten::add"].device_time_total >= 300_000
    assert rows["aten::ones"].device_time_total < rows["aten::add"].device_time_total


def test_without_stubs_every_operator_logs_an_exception(run_forked):
    process = run_forked(
        """
        import torch, types
        torch.utils.rename_privateuse1_backend("foo")
        torch._register_device_module("foo", types.ModuleType("foo"))
        profile = torch.autograd.profiler.profile
        with profile(use_device="foo", use_kineto=False):
            torch.ones(2)
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert "PrivateUse1 used in profiler but not enabled" in process.stderr


# -- the rest of the list --


def test_marks_alone_are_refused():
    config = torch._C._profiler.ProfilerConfig(
        torch._C._profiler.ProfilerState.PRIVATEUSE1,
        *[False] * 5,
        torch._C._profiler._ExperimentalConfig(),
        "",
    )
    with pytest.raises(NotImplementedError, match=r"Use torch\.profiler\.profile"):
        torch._C._autograd._enable_profiler(config, set())


def test_marks_without_an_observer_end_the_process(run_forked):
    process = run_forked(
        """
        import torch
        profiler = torch._C._profiler
        state = profiler.ProfilerState.PRIVATEUSE1
        options = [False] * 5 + [profiler._ExperimentalConfig(), ""]
        torch._C._autograd._enable_profiler(
            profiler.ProfilerConfig(state, *options), set()
        )
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert process.returncode == -11, process.stderr


def test_monitors_and_counters_know_no_device():
    include = Path(torch.__file__).parent / "include"
    for name in (
        *("torch/csrc/monitor/events.h", "torch/csrc/monitor/counters.h"),
        *("c10/util/WaitCounter.h", "c10/util/DynamicCounter.h"),
    ):
        code = re.sub(r"//.*|/\*.*?\*/", "", (include / name).read_text(), flags=re.S)
        assert not re.search("device", code, flags=re.I), name


def test_ddp_logs_the_times_of_the_device(run_forked):
    process = run_forked(
        """
        import torch, torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        torch.manual_seed(0)
        dist.init_process_group("occl", world_size=1, rank=0, store=dist.HashStore())
        model = DistributedDataParallel(torch.nn.Linear(4, 4).to("openreg"))
        model._set_ddp_runtime_logging_sample_rate(1)
        x = torch.randn(2, 4, device="openreg")
        model(x)  # a step without a backward has no times, neither first
        with torch.openreg.simulator.delay(20_000):
            for _ in range(2):
                model(x).sum().backward()
            model(x)  # logs the step before it
        logged = model._get_ddp_logging_data()
        for part in ("forward_compute", "backward_compute", "backward_comm"):
            print(part, logged[f"{part}_time"] >= 20_000_000)
        model(x)  # nor later: the backward was that of an earlier step
        print(model._get_ddp_logging_data()["backward_compute_time"])
        dist.destroy_process_group()
        """
    )
    assert process.stdout == (
        "forward_compute True\nbackward_compute True\nbackward_comm True\n0\n"
    ), process.stderr


def test_what_only_cpp_reaches(compile_cpp):
    program = compile_cpp("profiler_calls")
    slow = os.environ | {"OPENREG_SIM_DELAY": "20000"}  # microseconds a task
    output = subprocess.check_output([program], text=True, env=slow)
    assert output.splitlines() == [
        '""',  # torch's name for the activities of the device
        *("visits 0, current openreg:0", "visits 1, current openreg:1"),
        "then openreg:0",
        "enabled 1, device 1, microseconds 1",
        "done 0, then 1",
    ]

# Limits of torch 2.13, as they are today; see docs/ship/known-gaps.md.
#
# A test that fails here is good news: torch has lost a limit. Remove the test, the
# section of the page and the workaround.
import inspect
import signal
import sys
import threading
import unittest
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from torch_release import is_open


@pytest.mark.smoke
def test_memory_snapshot_goes_to_cuda():
    kept = torch.ones(1, device="openreg")
    if torch.version.cuda:  # CUDA's allocator answers, which has none of our memory
        snapshot = torch.accelerator.memory._snapshot()
        assert snapshot["segments"] == [] and "device_traces" in snapshot
    else:
        with pytest.raises(AttributeError, match="_cuda_memorySnapshot"):
            torch.accelerator.memory._snapshot()
    assert torch.openreg.memory._snapshot()["segments"]
    del kept


@pytest.mark.smoke
def test_no_memory_pool_in_torch_accelerator():
    names = {*dir(torch.accelerator), *dir(torch.accelerator.memory)}
    assert not {name for name in names if "pool" in name.lower()}
    cpu_build = "Tried to instantiate dummy base class MemPool"
    if torch.version.cuda:  # torch.cuda's pool is one of CUDA's allocator
        assert torch._C._MemPool.__module__ == "torch._C"
    else:
        with pytest.raises(RuntimeError, match=cpu_build):
            torch.cuda.MemPool()


@pytest.mark.parametrize("device", ["cpu", "openreg"])
def test_conjugated_views_lose_their_bit_between_processes(device):
    x = torch.tensor([1 + 2j], device=device)
    y = ForkingPickler.loads(ForkingPickler.dumps(x.conj()))
    assert y.tolist() == [1 + 2j]
    y = ForkingPickler.loads(ForkingPickler.dumps(torch._neg_view(x.real)))
    assert y.tolist() == [1]


@pytest.mark.smoke
def test_asarray_moves_a_tensor_to_the_default_device():
    x = torch.ones(2)
    with torch.device("openreg"):
        assert torch.asarray(x).is_openreg and torch.as_tensor(x).is_openreg
        assert torch.asarray(x, device=x.device).is_cpu


def test_maybe_exchange_device_returns_the_new_device():
    torch.ones(1, device="openreg")
    torch.openreg.set_device(0)
    assert torch._C._accelerator_maybeExchangeDevice(1) == 1
    assert torch._C._accelerator_maybeExchangeDevice(0) == 0


def test_capability_is_kept_and_shared():
    torch.accelerator.get_device_capability.cache_clear()
    first = torch.accelerator.get_device_capability("openreg:0")
    assert torch.accelerator.get_device_capability("openreg:0") is first
    torch.accelerator.get_device_capability.cache_clear()


def test_synchronize_is_silent_until_torch_itself_starts_the_device(run_forked):
    program = """
        import torch
        torch.openreg.init()
        torch.accelerator.synchronize(99)
        torch.ones(1, device="openreg")
        try:
            torch.accelerator.synchronize(99)
        except torch.AcceleratorError:
            print("refused")
    """
    process = run_forked(program)
    assert process.stdout == "refused\n", process.stderr


def test_a_guard_that_throws_from_get_stream_ends_the_process(run_forked, compile_cpp):
    program = f"""
        import torch
        torch.ops.load_library({str(compile_cpp("trace"))!r})
        x = torch.ones(2, device="openreg")
        torch.ops.openreg_trace.fail("Guard.getStream")
        torch.ops.openreg_trace.start()
        try:
            x.requires_grad_().sum()
        except RuntimeError:
            print("raised")
    """
    process = run_forked(program)
    assert process.returncode == -6  # SIGABRT
    assert process.stdout == ""
    assert "Guard.getStream fails on purpose" in process.stderr


def test_a_subclass_of_event_is_no_event():
    class Event(torch.Event):
        pass

    event = Event("openreg", enable_timing=True)
    with pytest.raises(RuntimeError, match="expected other to be"):
        event.elapsed_time(event)
    with pytest.raises(RuntimeError, match="expected event to be"):
        torch.Stream("openreg").record_event(event)


def test_a_stream_that_is_current_there_does_not_switch_the_device():
    there = torch.Stream(stream_id=0, device_index=1, device_type=20)
    with there:
        assert torch.openreg.current_device() == 0
    with torch.Stream("openreg:1"):
        assert torch.openreg.current_device() == 1


def test_threads_that_enter_the_same_stream_restore_each_other_s():
    stream, mine = torch.Stream("openreg"), torch.Stream("openreg")
    entered, leave = threading.Event(), threading.Event()

    def enter_and_leave_later():
        with stream:
            entered.set()
            leave.wait()

    with mine:
        thread = threading.Thread(target=enter_and_leave_later)
        with stream:
            thread.start()
            entered.wait()
        assert torch.accelerator.current_stream().stream_id == 0  # right: `mine`
        leave.set()
        thread.join()
    assert torch.accelerator.current_stream().stream_id == 0


def test_a_device_index_restores_what_its_inner_block_found():
    context = torch.accelerator.device_index(1)
    with context, context:
        pass
    assert torch.openreg.current_device() == 1  # right: 0


def test_no_stream_differs_from_none():
    stream = torch.Stream("openreg")
    differs = not is_open("no stream differs from none")
    assert (stream == None, stream != None) == (False, differs)  # noqa: E711


def test_events_ignore_what_torch_does_not_pass_on():
    assert torch.Event("openreg:1").device.index is None
    event = torch.Event("openreg:1", blocking=True, interprocess=True)
    event.record()
    assert event.device.index == 0
    with pytest.raises(NotImplementedError, match="ipc is not supported"):
        event.ipc_handle()
    with pytest.raises(NotImplementedError, match="ipc is not supported"):
        torch.Event.from_ipc_handle(torch.device("openreg"), b"")


def test_a_host_cache_that_does_not_exist_cannot_be_emptied(run_forked):
    program = """
        import torch
        from torch.utils import backend_registration
        class Module:
            _lazy_init = staticmethod(lambda: None)
        backend_registration._setup_privateuseone_for_python_backend("bare", Module())
        try:
            torch.empty(1, device="bare")
        except NotImplementedError:
            torch.accelerator.empty_host_cache()
    """
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    crashes = is_open("an empty host cache ends the process")
    assert process.returncode == (-11 if crashes else 0), process.stderr


def test_byteswap_reads_the_device_from_the_host(run_forked):
    program = """
        import torch
        torch.ones(1, device="openreg").untyped_storage().byteswap(torch.float32)
    """
    assert run_forked(program).returncode == -11


def test_accelerator_synchronize_lets_warnings_go_to_stderr(run_forked):
    program = """
        import torch, warnings
        warnings.simplefilter("error")
        z = torch.ones(2, dtype=torch.complex64, device="openreg")
        with torch.openreg.simulator.hold():
            count = torch.linalg.vector_norm(z[0], ord=0)
        torch.accelerator.synchronize()
    """
    process = run_forked(program)
    assert process.returncode == 0
    assert "Warning: Casting complex values to real" in process.stderr


def test_a_thread_that_computes_while_python_ends_aborts(run_forked):
    program = """
        import threading, time, torch
        def work(x=torch.ones(1)):
            while True:
                x + x
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.1)
    """
    process = run_forked(program)
    aborted = "terminate called without an active exception" in process.stderr
    assert aborted == (sys.version_info < (3, 14))  # then such threads never wake up


@pytest.mark.parametrize(("kept", "aborts"), [("dist.group.WORLD", True), ("", False)])
def test_a_thread_of_gloo_that_is_late_aborts(run_python, compile_cpp, kept, aborts):
    program = f"""
        import atexit, ctypes
        library = ctypes.PyDLL({str(compile_cpp("late_gloo"))!r}, ctypes.RTLD_GLOBAL)
        atexit.register(library.let_go)  # the first one is called last
        {"" if aborts else 'ctypes.c_int.in_dll(library, "naps").value = 50'}
        import torch, torch.distributed as dist
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        dist.all_reduce(torch.ones(1))
        kept = [{kept}]
        dist.destroy_process_group()
    """
    process = run_python(program, PYTHONFAULTHANDLER="")  # it would ask the dead thread
    aborts &= sys.version_info < (3, 14)
    assert ("terminate called without" in process.stderr) == aborts
    assert (process.returncode == -signal.SIGABRT) == aborts, process.stderr


@pytest.mark.parametrize(("end", "ends"), [("sys.exit()", 0), ("os._exit(0)", 1)])
def test_a_child_forked_after_a_profile_does_not_end(run_forked, end, ends):
    program = f"""
import os, signal, sys, time, torch
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU]):
    torch.ones(2) + 1
time.sleep(0.5)  # Kineto's thread begins to wait
if (child := os.fork()) == 0:
    {end}
for _ in range(100):
    gone, _ = os.waitpid(child, os.WNOHANG)
    if gone:
        break
    time.sleep(0.02)
else:
    os.kill(child, signal.SIGKILL)
print(int(gone == child))
"""
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert process.stdout == f"{ends}\n", process.stderr


def test_the_eager_backend_forgets_the_mask_of_a_checkpoint_on_every_device():
    from torch.utils.checkpoint import checkpoint

    def layer(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x) * x

    def fits(backend: str, device: str) -> bool:
        x = torch.ones(1000, device=device, requires_grad=True)
        step = torch.compile(
            lambda x: checkpoint(layer, x, use_reentrant=False), backend=backend
        )
        y = step(x)
        y.sum().backward()
        assert x.grad is not None
        return torch.equal(x.grad.cpu(), 2 * y.detach().cpu())

    for device in ("cpu", "openreg"):
        assert not fits("eager", device)
        assert fits("aot_eager", device)


@pytest.mark.parametrize("run", range(3))  # without the workaround, most runs fail
def test_a_process_may_end_right_after_backward(run_forked, run):
    program = """
        import torch
        x = torch.ones(4, device="openreg", requires_grad=True)
        torch.autograd.backward(x.view(4), torch.ones(4, device="openreg"))
    """
    process = run_forked(program)
    assert (process.returncode, process.stderr) == (0, "")


def test_waiting_for_the_engine_survives_a_fault(run_forked):
    program = """
        import torch
        from torch_openreg.openreg import _engine
        x = torch.ones(4, device="openreg:1", requires_grad=True)
        x.clone().sum().backward()
        torch.openreg.simulator.fail_kernel()
        x.detach().fill_(1)
        try:
            torch.openreg.synchronize(1)
        except torch.AcceleratorError:
            print("faulted")
        _engine._let_threads_finish()
        print(x.grad.shape)
    """
    process = run_forked(program)
    assert process.stdout == "faulted\ntorch.Size([4])\n", process.stderr
    assert process.returncode == 0


def test_dlpack_looks_for_a_name_that_no_device_can_have():
    x = torch.ones(2, device="openreg")
    for call in (x.__dlpack_device__, lambda: torch.from_dlpack(x)):
        with pytest.raises(ValueError, match="Unknown device type openreg for Dlpack"):
            call()
    lines = inspect.getsource(torch.Tensor.__dlpack_device__)
    assert 'self.device.type == "privateuse1"' in lines
    with pytest.raises(RuntimeError, match="Invalid device string"):
        torch.device("privateuse1")


def test_flex_attention_refuses_devices_that_it_does_not_list():
    from torch.nn.attention.flex_attention import flex_attention  # takes a second

    query = torch.ones(1, 1, 4, 4, device="openreg")
    with pytest.raises(
        ValueError, match="FlexAttention is only supported on CUDA, CPU"
    ):
        flex_attention(query, query, query)


@pytest.fixture(scope="module")
def copy_operator():
    @torch.library.custom_op("gaps_test::copy", mutates_args=())
    def copy(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    copy.register_autograd(lambda ctx, grad: grad)
    return copy


def test_opcheck_cannot_see_gradients_on_the_device(copy_operator):
    check = "test_autograd_registration"
    x = torch.ones(2, requires_grad=True)
    assert torch.library.opcheck(copy_operator, (x,), test_utils=check)
    x = torch.ones(2, device="openreg", requires_grad=True)
    with pytest.raises(Exception, match="NYI devices other than CPU/CUDA/XPU"):
        torch.library.opcheck(copy_operator, (x,), test_utils=check)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.parametrize("device", ["cpu", "openreg"])
def test_a_custom_operator_has_a_forward_derivative_of_zero(copy_operator, device):
    x = torch.ones(2, device=device)
    value, derivative = torch.func.jvp(copy_operator, (x,), (x,))
    assert (value.tolist(), derivative.tolist()) == ([1.0, 1.0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("pass", "TestFirstPRIVATEUSE1 1 0\nTestSecondOPENREG 0 1\n"),
        (
            "PrivateUse1TestBase.setUpClass()",
            "TestFirstOPENREG 0 1\nTestSecondOPENREG 0 1\n",
        ),
    ],
)
def test_device_generic_tests_learn_the_device_s_name_late(
    run_forked, before, expected
):
    program = f"""
        import torch, unittest
        from torch.testing._internal.common_device_type import (
            PrivateUse1TestBase, instantiate_device_type_tests, ops,
        )
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.common_utils import TestCase
        from torch.testing._internal.opinfo.core import DecorateInfo
        fails = {{"abs": [DecorateInfo(unittest.expectedFailure)]}}
        PrivateUse1TestBase.set_test_configs(op_allowlist=["abs"], op_overrides=fails)
        {before}
        for name in ("TestFirst", "TestSecond"):
            @ops(op_db, allowed_dtypes=[torch.float32])
            def test(self, device, dtype, op):
                raise AssertionError
            made = {{name: type(name, (TestCase,), {{"test": test}})}}
            instantiate_device_type_tests(made[name], made, only_for="openreg")
            (name, Test), = made.items()
            result = unittest.TestResult()
            unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(result)
            print(name, len(result.failures), len(result.expectedFailures))
    """
    process = run_forked(program)
    assert process.stdout == expected, process.stderr


def test_large_tensor_test_skips():
    from torch.testing._internal.common_device_type import largeTensorTest
    from torch.testing._internal.common_utils import TestCase

    class Large(TestCase):
        device_type = "openreg"

        @largeTensorTest(1, device="openreg")
        def test(self):
            raise AssertionError("it runs")

    result = unittest.TestResult()
    Large("test").run(result)
    assert [why for _, why in result.skipped] == ["Unknown device type"]


@pytest.mark.filterwarnings("ignore:Validating sparse tensor invariants")  # 2.15
def test_sparse_tensors_are_loaded_by_the_names_of_devices_only(tmp_path):
    path = tmp_path / "file"
    torch.save(torch.eye(2, device="openreg").to_sparse(), path)
    for where in ("cpu", {"openreg:0": "cpu"}):
        assert torch.load(path, map_location=where).to_dense().tolist() == [
            [1, 0],
            [0, 1],
        ]
    with pytest.raises(RuntimeError, match="Callable map_location not supported"):
        torch.load(path, map_location=lambda storage, location: storage)


def test_printing_copies_only_tensors_of_devices_that_torch_names():
    source = inspect.getsource(torch._tensor_str._str_intern)
    assert 'in ["xla", "lazy", "ipu", "mtia"]:\n        self = self.to("cpu")' in source


@pytest.mark.parametrize("columns", [4, 33])
def test_an_int8_product_in_bfloat16_reads_beyond_a_row(run_forked, columns):
    program = f"""
        import torch
        for _ in range(50):
            x = torch.ones(3, {columns}, dtype=torch.bfloat16)
            codes = torch.ones(5, {columns}, dtype=torch.int8)
            y = torch._weight_int8pack_mm(x, codes, torch.ones(5, dtype=x.dtype))
            if (y != {columns}).any():
                print("wrong")
                break
    """
    process = run_forked(program)
    assert process.returncode == -signal.SIGSEGV or process.stdout == "wrong\n"

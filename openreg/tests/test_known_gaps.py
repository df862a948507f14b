# Limits of torch 2.13, as they are today; see docs/ship/known-gaps.md.
#
# A test that fails here is good news: torch has lost a limit. Remove the test, the
# section of the page and the way round.
import pytest
import torch


def test_memory_snapshot_goes_to_cuda():
    with pytest.raises(AttributeError, match="_cuda_memorySnapshot"):
        torch.accelerator.memory._snapshot()


def test_no_memory_pool_in_torch_accelerator():
    names = {*dir(torch.accelerator), *dir(torch.accelerator.memory)}
    assert not {name for name in names if "pool" in name.lower()}


def test_graph_is_not_registered():
    with pytest.raises(RuntimeError, match="not supported on device type: openreg"):
        torch.accelerator.Graph()


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


def test_synchronize_is_silent_until_torch_itself_starts_the_device(run_python):
    program = """
        import torch
        torch.openreg.init()
        torch.accelerator.synchronize(99)
        torch.ones(1, device="openreg")
        try:
            torch.accelerator.synchronize(99)
        except ValueError:
            print("refused")
    """
    process = run_python(program)
    assert process.stdout == "refused\n", process.stderr


def test_a_guard_that_throws_from_get_stream_ends_the_process(run_python, compile_cpp):
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
    process = run_python(program)
    assert process.returncode == -6  # SIGABRT
    assert process.stdout == ""
    assert "Guard.getStream fails on purpose" in process.stderr

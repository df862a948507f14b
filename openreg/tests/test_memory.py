# Memory is cached, split, reused in order and never lost; see docs/runtime/memory.md.
import gc

import torch


def test_freed_memory_is_used_again_by_the_same_stream():
    torch.accelerator.empty_cache()
    x = torch.empty(1000, device="openreg")
    address = x.data_ptr()
    del x
    assert torch.empty(1000, device="openreg").data_ptr() == address


def test_memory_in_use_by_another_stream_is_not_used_again():
    torch.accelerator.empty_cache()
    stream = torch.Stream("openreg")
    x = torch.empty(1000, device="openreg")
    address = x.data_ptr()
    with stream:
        y = torch.empty(1000, device="openreg")
        assert y.data_ptr() != address
        del x  # belongs to the default stream: not for this one
        assert torch.empty(1000, device="openreg").data_ptr() != address


KERNEL_FROM_PYTHON = """
    import ctypes, os, pathlib, threading, torch, torch_openreg
    package = pathlib.Path(torch_openreg.__file__).parent
    driver = ctypes.CDLL(package / "lib/libopenreg.so")
    gate = threading.Event()
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def wait_for_gate(args):
        gate.wait()
        return 0
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def fail(args):
        return 719  # orErrorLaunchFailure
    def launch(kernel, stream):
        handle = ctypes.c_void_p(stream.native_handle)
        assert driver.orLaunchKernel(b"test", kernel, None, None, handle) == 0
"""


def test_memory_of_a_recorded_stream_waits_for_it(run_python):
    program = (
        KERNEL_FROM_PYTHON
        + """
    side = torch.Stream("openreg")
    x = torch.zeros(1000, device="openreg")
    address = x.data_ptr()
    launch(wait_for_gate, side)  # holds the side stream back
    x.record_stream(side)
    del x
    y = torch.zeros(1000, device="openreg")
    print(y.data_ptr() != address)
    gate.set()
    side.synchronize()
    print(torch.zeros(1000, device="openreg").data_ptr() == address)
    """
    )
    process = run_python(program)
    assert process.stdout == "True\nTrue\n", process.stderr


def test_a_recorded_tensor_can_die_after_a_fault_and_after_a_fork(run_python):
    program = (
        KERNEL_FROM_PYTHON
        + """
    x, y = (torch.zeros(1000, device="openreg") for _ in range(2))
    side = torch.Stream("openreg")
    x.record_stream(side)
    y.record_stream(side)
    torch.openreg.synchronize()
    child = os.fork()
    if child == 0:
        del x
        print("child", flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
    launch(fail, side)
    try:
        torch.openreg.synchronize()
    except torch.AcceleratorError:
        del y
    print("alive")
    """
    )
    process = run_python(program)
    assert process.stdout == "child\n0\nalive\n", process.stderr


def test_a_storage_can_be_resized_on_another_stream(run_python):
    program = (
        KERNEL_FROM_PYTHON
        + """
    x = torch.arange(256.0).to("openreg")
    side = torch.Stream("openreg")
    launch(wait_for_gate, side)  # the copy of the resize has to wait
    with side:
        x.untyped_storage().resize_(4096)
    y = torch.full((256,), -1.0, device="openreg")  # must not get the old memory
    torch.accelerator.current_stream().synchronize()
    gate.set()
    side.synchronize()
    print(x[:4].tolist())
    """
    )
    process = run_python(program)
    assert process.stdout == "[0.0, 1.0, 2.0, 3.0]\n", process.stderr


def test_statistics_follow_tensors():
    gc.collect()
    before = torch.accelerator.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="openreg")
    assert torch.accelerator.memory_allocated() == before + (1 << 20)
    assert torch.accelerator.max_memory_allocated() >= before + (1 << 20)
    assert torch.accelerator.memory_reserved() >= torch.accelerator.memory_allocated()
    del x
    assert torch.accelerator.memory_allocated() == before


def test_empty_cache_gives_memory_back():
    x = torch.empty(64 << 20, dtype=torch.uint8, device="openreg")
    del x
    torch.accelerator.empty_cache()
    gc.collect()
    free_before, total = torch.accelerator.get_memory_info()
    x = torch.empty(64 << 20, dtype=torch.uint8, device="openreg")
    assert torch.accelerator.get_memory_info() == (free_before - (64 << 20), total)
    del x
    torch.accelerator.empty_cache()
    assert torch.accelerator.get_memory_info() == (free_before, total)


def test_out_of_memory_frees_the_cache_first(run_python):
    program = """
        import torch
        x = torch.empty(40 << 20, dtype=torch.uint8, device="openreg")
        del x  # cached
        y = torch.empty(60 << 20, dtype=torch.uint8, device="openreg")
        try:
            torch.empty(60 << 20, dtype=torch.uint8, device="openreg")
        except torch.OutOfMemoryError as error:
            print(error)
        print(torch.ones(1, device="openreg").item())
    """
    process = run_python(program, OPENREG_DEVICE_MEMORY=str(64 << 20))
    assert process.returncode == 0, process.stderr
    assert "tried to allocate 60.00 MiB. The device has 64.00 MiB" in process.stdout
    assert "OPENREG_DEVICE_MEMORY" in process.stdout
    assert process.stdout.endswith("1.0\n")

# Pinned memory is cached, and copies with it are asynchronous; see
# docs/runtime/host-memory.md.
import gc
import threading

import pytest
import torch
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset
from while_held import returns_while_held

simulator = torch.openreg.simulator
stats = torch.openreg.host_memory_stats

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.uint16, torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES += [torch.complex64, torch.complex128, torch.float8_e4m3fn]


# -- pinning --


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_of_each_dtype_can_be_pinned(dtype):
    x = torch.arange(12).reshape(3, 4).to(dtype)
    y = x.pin_memory()
    assert (y.device, y.dtype) == (x.device, x.dtype)
    assert y.is_pinned() and not x.is_pinned()
    assert_close(y, x, rtol=0, atol=0)
    assert y.pin_memory() is y
    assert_close(y.to("openreg", non_blocking=True).cpu(), x, rtol=0, atol=0)


@pytest.mark.smoke
def test_what_is_pinned():
    x = torch.arange(12.0).pin_memory()
    assert x[3:].is_pinned() and x.view(3, 4).t().is_pinned()
    assert x.untyped_storage().is_pinned()
    assert x.t().contiguous().is_pinned() and not x.clone().is_pinned()
    assert torch.empty(3, pin_memory=True).is_pinned()
    assert torch.empty_strided((2, 2), (1, 2), pin_memory=True).is_pinned()
    assert torch.zeros(3, pin_memory=True).is_pinned()
    assert torch.tensor([1.0], pin_memory=True).is_pinned()
    assert torch.empty_like(x, pin_memory=True).is_pinned()
    assert torch.ones(2).untyped_storage().pin_memory().is_pinned()
    assert not torch.ones(2, device="openreg").is_pinned()


def test_an_empty_tensor_can_be_pinned():
    assert torch.empty(0).pin_memory().shape == (0,)


def test_the_device_can_be_named():
    with pytest.warns(DeprecationWarning, match="argument 'device' of Tensor"):
        assert torch.ones(2).pin_memory("openreg").is_pinned("openreg")


def test_only_dense_cpu_tensors_can_be_pinned():
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(2, device="openreg").pin_memory()
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.empty(2, device="openreg", pin_memory=True)
    with pytest.raises(TypeError, match="only CPU memory can be pinned"):
        torch.ones(2, device="openreg").untyped_storage().pin_memory()


@pytest.mark.smoke
@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_loader_pins(workers):
    data = TensorDataset(torch.arange(32.0).view(8, 4), torch.arange(8))
    loader = DataLoader(data, batch_size=4, pin_memory=True, num_workers=workers)
    batches = list(loader)
    assert all(t.is_pinned() for batch in batches for t in batch)
    on_device = [x.to("openreg", non_blocking=True) for x, _ in batches]
    assert_close(torch.cat(on_device).cpu(), torch.arange(32.0).view(8, 4))


# -- asynchronous copies --


def test_a_pinned_source_is_read_when_the_stream_gets_there():
    source = torch.zeros(4).pin_memory()
    target = torch.full((4,), -1.0, device="openreg")
    with simulator.hold():
        target.copy_(source, non_blocking=True)
        source.fill_(5)
    assert_close(target.cpu(), torch.full((4,), 5.0))


def test_a_pinned_target_is_written_when_the_stream_gets_there():
    source = torch.ones(4, device="openreg")
    target = torch.zeros(4).pin_memory()
    with simulator.hold():
        target.copy_(source, non_blocking=True)
        assert_close(target, torch.zeros(4))
    torch.accelerator.synchronize()
    assert_close(target, torch.ones(4))


def test_to_cpu_without_blocking_gives_pinned_memory():
    x = torch.arange(6.0, device="openreg").view(2, 3)
    host = returns_while_held(lambda: x.t().to("cpu", non_blocking=True))
    torch.accelerator.synchronize()
    assert host.is_pinned()
    assert_close(host, torch.arange(6.0).view(2, 3).t())


SOURCES = {
    "transposed": lambda t: t.t(),
    "sliced": lambda t: t[:, ::2],
    "expanded": lambda t: t[:1].expand(5, 6),
    "conjugate": lambda t: torch.complex(t, t).pin_memory().conj(),
}


@pytest.mark.parametrize("view", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
def test_strided_and_converting_copies_to_the_device_do_not_wait(view, dtype):
    source = view(torch.arange(24.0).view(4, 6).pin_memory())
    if source.is_complex() and not dtype.is_complex:
        dtype = torch.complex64
    target = torch.zeros(source.shape, dtype=dtype, device="openreg")
    returns_while_held(lambda: target.copy_(source, non_blocking=True))
    assert_close(target.cpu(), source.resolve_conj().to(dtype))


def test_copies_from_the_device_convert_without_waiting():
    source = torch.arange(24.0, device="openreg").view(4, 6)
    target = torch.zeros(6, 4, dtype=torch.float64).pin_memory().t()
    returns_while_held(lambda: target.copy_(source, non_blocking=True))
    torch.accelerator.synchronize()
    assert_close(target, torch.arange(24.0, dtype=torch.float64).view(4, 6))


def test_a_copy_into_memory_with_holes_waits_for_its_values():
    source = torch.arange(4.0, device="openreg")
    target = torch.zeros(8).pin_memory()
    with simulator.delay(2000):
        target[::2].copy_(source, non_blocking=True)
        assert target.tolist() == [0, 0, 1, 0, 2, 0, 3, 0]


def test_broadcasting_moves_the_source_once():
    target = torch.zeros(1000, 3, device="openreg")
    target.copy_(torch.arange(3.0).pin_memory(), non_blocking=True)
    assert_close(target.cpu(), torch.arange(3.0).expand(1000, 3))


def test_a_pageable_source_is_free_at_once():
    source = torch.zeros(4)
    target = torch.full((4,), -1.0, device="openreg")
    with simulator.hold():
        target.copy_(source, non_blocking=True)
        source.fill_(5)
    assert_close(target.cpu(), torch.zeros(4))
    source = torch.zeros(1 << 20)  # too large for the driver to buffer: it waits
    target = torch.full((1 << 20,), -1.0, device="openreg")
    with simulator.delay(2000):
        target.copy_(source, non_blocking=True)
        source.fill_(5)
    assert_close(target.cpu(), torch.zeros(1 << 20))


def test_a_pageable_target_is_there_at_once():
    source = torch.ones(4, device="openreg")
    target = torch.zeros(4)
    with simulator.delay(2000):
        target.copy_(source, non_blocking=True)
        assert_close(target, torch.ones(4))


def test_blocking_copies_wait_also_with_pinned_memory():
    pinned = torch.ones(4).pin_memory()
    device = torch.zeros(4, device="openreg")
    with simulator.delay(2000):
        device.copy_(pinned)
        pinned.fill_(7)
        other = torch.zeros(4).pin_memory()
        other.copy_(device)
        assert_close(other, torch.ones(4))


def test_copies_run_on_the_current_stream():
    side = torch.Stream("openreg")
    source = torch.ones(4).pin_memory()
    target = torch.zeros(4, device="openreg")
    torch.accelerator.synchronize()
    with simulator.hold(side):
        with side:
            target.copy_(source, non_blocking=True)
        assert not side.query()
        assert_close(target.cpu(), torch.zeros(4))  # the default stream does not wait
    side.synchronize()
    assert_close(target.cpu(), torch.ones(4))


# -- memory in use is not handed out again --


def test_a_freed_block_waits_for_its_copy():
    torch.accelerator.empty_host_cache()
    target = torch.zeros(1000, device="openreg")
    with simulator.hold():
        source = torch.ones(1000).pin_memory()
        address = source.data_ptr()
        target.copy_(source, non_blocking=True)
        del source
        other = torch.full((1000,), 9.0).pin_memory()
        assert other.data_ptr() != address
    assert_close(target.cpu(), torch.ones(1000))
    assert torch.empty(1000, pin_memory=True).data_ptr() == address


def test_a_freed_target_waits_for_its_copy():
    source = torch.full((1000,), 3.0, device="openreg")
    with simulator.hold():
        address = source[:].to("cpu", non_blocking=True).data_ptr()
        other = torch.zeros(1000, pin_memory=True)
        assert other.data_ptr() != address
    torch.accelerator.synchronize()
    assert_close(other, torch.zeros(1000))


def test_a_block_waits_for_each_stream_that_used_it():
    torch.accelerator.empty_host_cache()
    side = torch.Stream("openreg:1")
    a = torch.zeros(1000, device="openreg:0")
    b = torch.zeros(1000, device="openreg:1")
    torch.openreg.synchronize(1)
    with simulator.hold(side):
        source = torch.ones(1000).pin_memory()
        address = source.data_ptr()
        a.copy_(source, non_blocking=True)
        with side:
            b.copy_(source[0:], non_blocking=True)
        del source
        torch.openreg.synchronize(0)
        assert torch.empty(1000, pin_memory=True).data_ptr() != address
    side.synchronize()
    assert_close(b.cpu(), torch.ones(1000))


def test_staging_memory_of_a_strided_copy_waits_too():
    torch.accelerator.empty_host_cache()
    target = torch.zeros(500, device="openreg")
    source = torch.ones(1000).pin_memory()[::2]
    with simulator.hold():
        target.copy_(source, non_blocking=True)
        others = [torch.full((500,), 9.0).pin_memory() for _ in range(3)]
    assert_close(target.cpu(), torch.ones(500))
    assert len(others) == 3


def test_memory_that_no_copy_used_is_reused_at_once():
    x = torch.empty(1000, pin_memory=True)
    address = x.data_ptr()
    with simulator.hold():
        del x
        assert torch.empty(1000, pin_memory=True).data_ptr() == address


# -- statistics and settings --


def test_statistics_follow_tensors():
    gc.collect()
    torch.accelerator.synchronize()
    torch.accelerator.empty_host_cache()
    torch.openreg.reset_accumulated_host_memory_stats()
    torch.openreg.reset_peak_host_memory_stats()
    before = stats()
    assert before["num_host_alloc"] == before["num_host_free"] == 0
    x = torch.empty(3000, dtype=torch.uint8, pin_memory=True)
    now = stats()
    assert now["active_bytes.current"] - before["active_bytes.current"] == 4096
    assert now["active_requests.current"] - before["active_requests.current"] == 1
    assert now["allocated_bytes.allocated"] == 4096
    assert now["num_host_alloc"] == now["host_alloc_time.count"] == 1
    del x
    now = stats()
    assert now["active_bytes.current"] == before["active_bytes.current"]
    assert now["active_bytes.peak"] == before["active_bytes.current"] + 4096
    assert now["allocated_bytes.current"] - before["allocated_bytes.current"] == 4096
    torch.accelerator.empty_host_cache()
    now = stats()
    assert now["allocated_bytes.current"] == before["allocated_bytes.current"]
    assert now["num_host_free"] == now["host_free_time.count"] == 1
    nested = torch.openreg.memory.host_memory_stats_as_nested_dict()
    assert nested["active_bytes"]["peak"] == now["active_bytes.peak"]
    torch.openreg.reset_peak_host_memory_stats()
    assert stats()["active_bytes.peak"] == before["active_bytes.current"]


def test_the_host_cache_can_be_emptied_before_anything_was_pinned(run_forked):
    # Without a registered host allocator this ends torch 2.13 by signal 11.
    program = """
        import torch
        torch.ones(1, device="openreg")
        torch.accelerator.empty_host_cache()
        print("alive")
    """
    process = run_forked(program)
    assert process.stdout == "alive\n", process.stderr


def test_settings_of_pinned_memory(run_python):
    program = """
        import torch
        x = torch.empty(3 << 20, dtype=torch.uint8, pin_memory=True)
        y = torch.empty(1000, dtype=torch.uint8, pin_memory=True)
        stats = torch.openreg.host_memory_stats
        print(stats()["active_bytes.current"])  # above 1 MiB nothing is rounded
        del x, y
        print(stats()["allocated_bytes.current"])  # above 2 MiB nothing is kept
    """
    settings = "pinned_max_round_threshold_mb:1,pinned_max_cached_size_mb:2"
    process = run_python(program, PYTORCH_ALLOC_CONF=settings)
    assert process.stdout == f"{(3 << 20) + 1024}\n1024\n", process.stderr


def test_events_can_be_watched_by_a_thread(run_python):
    program = """
        import time, torch
        target = torch.zeros(1000, device="openreg")
        source = torch.ones(1000).pin_memory()
        with torch.openreg.simulator.hold():
            target.copy_(source, non_blocking=True)
            del source
            other = torch.empty(1, pin_memory=True)  # looks for events, and finds none
        torch.accelerator.synchronize()
        stats = torch.openreg.host_memory_stats
        deadline = time.monotonic() + 60
        while stats()["active_requests.current"] > 1 and time.monotonic() < deadline:
            time.sleep(0.001)
        print(stats()["active_requests.current"])  # no allocation was needed for that
    """
    for setting, left in (("True", 1), ("False", 2)):
        process = run_python(
            program.replace("+ 60", "+ 60" if left == 1 else "+ 0.05"),
            PYTORCH_ALLOC_CONF=f"pinned_use_background_threads:{setting}",
        )
        assert process.returncode == 0, process.stderr
        assert process.stdout == f"{left}\n", process.stderr


# -- errors, forks, threads --


def test_a_full_host_is_tried_again_and_then_told():
    torch.accelerator.empty_host_cache()
    simulator.fail_allocation(1)
    assert torch.empty(1000, pin_memory=True).is_pinned()
    torch.accelerator.empty_host_cache()
    simulator.fail_allocation(2)
    try:
        with pytest.raises(torch.OutOfMemoryError, match="orMallocHost"):
            torch.empty(1 << 16, pin_memory=True)
    finally:
        simulator.reset()
    assert torch.empty(1 << 16, pin_memory=True).is_pinned()


def test_pinned_memory_can_be_freed_after_a_fault():
    target = torch.zeros(1000, device="openreg")
    source = torch.ones(1000).pin_memory()
    torch.accelerator.synchronize()
    try:
        with simulator.hold():
            simulator.fail_kernel()
            target + 1
            target.copy_(source, non_blocking=True)
        with pytest.raises(torch.AcceleratorError):
            torch.accelerator.synchronize()
        del source
        assert torch.ones(1000).pin_memory().is_pinned()
    finally:
        simulator.reset()


def test_a_forked_child_can_free_but_not_pin(run_forked):
    program = """
        import os, torch
        target = torch.zeros(1000, device="openreg")
        x, y = torch.ones(1000).pin_memory(), torch.ones(1000).pin_memory()
        target.copy_(x, non_blocking=True)
        if os.fork() == 0:
            print(y.sum().item(), flush=True)  # it is a copy of the parent's memory
            del x, y
            try:
                torch.ones(1000).pin_memory()
            except Exception as error:
                print(type(error).__name__, flush=True)
            os._exit(0)
        os.wait()
        del x, y
        print(torch.ones(1000).pin_memory().is_pinned())
    """
    process = run_forked(program)
    lines = process.stdout.splitlines()
    assert lines[0] == "1000.0" and lines[1].endswith("Error"), process.stderr
    assert lines[2:] == ["True"], process.stderr


def test_pinned_tensors_may_outlive_everything(run_python):
    program = """
        import sys, torch
        x = torch.ones(1000).pin_memory()
        y = torch.zeros(1000, device="openreg").copy_(x, non_blocking=True)
        sys.keep = [x, y]
    """
    for setting in ("True", "False"):
        process = run_python(
            program, PYTORCH_ALLOC_CONF=f"pinned_use_background_threads:{setting}"
        )
        assert (process.returncode, process.stderr) == (0, "")


def test_threads_share_the_cache():
    wrong = []

    def work(number):
        stream = torch.Stream("openreg")
        with stream:
            for i in range(100):
                value = float(number * 1000 + i)
                host = torch.full((256,), value).pin_memory()
                device = host.to("openreg", non_blocking=True)
                del host
                back = device.to("cpu", non_blocking=True)
                stream.synchronize()
                if back.min() != value or back.max() != value:
                    wrong.append(value)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    with simulator.delay(50, seed=3):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []

# Memory is cached, split, reused in order and never lost; see docs/runtime/memory.md.
import gc
import threading
from pathlib import Path

import pytest
import torch
from empty_pool import stream_without_memory
from holding import fail_allocations, hold, reset
from torch_release import has_changed

MIB = 1 << 20
memory = torch.openreg.memory


def device_bytes(count: int, **options) -> torch.Tensor:
    return torch.empty(count, dtype=torch.uint8, device="openreg", **options)


@pytest.fixture
def settings():
    """Change PYTORCH_ALLOC_CONF for one test, with an empty cache."""
    torch.openreg.empty_cache()
    yield torch._C._accelerator_setAllocatorSettings
    torch._C._accelerator_setAllocatorSettings(
        "max_non_split_rounding_mb:20,large_segment_size_mb:20"
    )
    torch.openreg.empty_cache()


@pytest.fixture
def own_segment():
    """A number of floats for which the allocator takes a whole segment.

    A smaller block may come from a hole that another test's tensor leaves: then
    its address says nothing about the block that this test has freed.
    """
    gc.collect()  # nothing else of this size becomes free meanwhile
    torch.openreg.synchronize()
    torch.openreg.empty_cache()
    yield 6 << 20  # 24 MiB: above PYTORCH_ALLOC_CONF's large_segment_size_mb
    torch.openreg.empty_cache()


def test_freed_memory_is_used_again_by_the_same_stream(own_segment):
    x = torch.empty(own_segment, device="openreg")
    address = x.data_ptr()
    del x
    assert torch.empty(own_segment, device="openreg").data_ptr() == address


def test_memory_in_use_by_another_stream_is_not_used_again(own_segment):
    stream = torch.Stream("openreg")
    x = torch.empty(own_segment, device="openreg")
    address = x.data_ptr()
    with stream:
        y = torch.empty(own_segment, device="openreg")
        assert y.data_ptr() != address
        del x  # belongs to the default stream: not for this one
        assert torch.empty(own_segment, device="openreg").data_ptr() != address


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


@pytest.mark.needs(stage=5, capability="hold")
def test_a_block_is_reused_at_once_by_its_stream_and_not_by_another(own_segment):
    a, b = torch.Stream("openreg"), torch.Stream("openreg")
    with hold(a):
        with a:
            x = torch.full((own_segment,), 1.0, device="openreg")
            sum_ = x + 1  # has not run when x is freed
            address = x.data_ptr()
            del x
            y = torch.full((own_segment,), 5.0, device="openreg")
            assert y.data_ptr() == address
        with b:
            assert torch.empty(own_segment, device="openreg").data_ptr() != address
    a.synchronize()
    assert sum_.unique().tolist() == [2.0]
    assert y.unique().tolist() == [5.0]


@pytest.mark.needs(stage=5, capability="hold")
@pytest.mark.parametrize("record", [True, False])
def test_record_stream_is_what_protects_memory_of_another_stream(record, own_segment):
    side = torch.Stream("openreg")
    x = torch.full((own_segment,), 1.0, device="openreg")
    address = x.data_ptr()
    torch.accelerator.synchronize()
    with hold(side):
        with side:
            sum_ = x + 1
        if record:
            x.record_stream(side)
        del x
        y = torch.full((own_segment,), 7.0, device="openreg")
        assert (y.data_ptr() == address) is not record
        torch.accelerator.current_stream().synchronize()
    side.synchronize()
    expected = 2.0 if record else 8.0  # 8: the mistake shows
    assert sum_.unique().tolist() == [expected]
    assert (torch.empty(own_segment, device="openreg").data_ptr() == address) is record


@pytest.mark.parametrize("elements", [1, 0])
def test_memory_waits_for_no_stream_of_another_device_type(elements):
    x = torch.empty(elements, device="openreg")
    with pytest.raises(ValueError, match="with stream 0 on device cpu"):
        x.record_stream(torch.Stream("cpu"))


@pytest.mark.needs(capability="kernels of the host")
def test_memory_of_a_recorded_stream_waits_for_it(run_forked):
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
    process = run_forked(program)
    assert process.stdout == "True\nTrue\n", process.stderr


@pytest.mark.needs(capability="kernels of the host")
def test_a_recorded_tensor_can_die_after_a_fault_and_after_a_fork(run_forked):
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
    process = run_forked(program)
    assert process.stdout == "child\n0\nalive\n", process.stderr


@pytest.mark.needs(capability="kernels of the host")
def test_a_storage_can_be_resized_on_another_stream(run_forked):
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
    process = run_forked(program)
    assert process.stdout == "[0.0, 1.0, 2.0, 3.0]\n", process.stderr


def test_empty_cache_gives_memory_back():
    x = device_bytes(64 * MIB)
    del x
    gc.collect()
    torch.accelerator.empty_cache()
    free_before, total = memory.mem_get_info()
    x = device_bytes(64 * MIB)
    assert memory.mem_get_info() == (free_before - 64 * MIB, total)
    del x
    memory.empty_cache()
    assert memory.mem_get_info() == (free_before, total)


def test_small_requests_share_a_segment_and_neighbours_merge():
    stream = stream_without_memory()
    reserved = memory.memory_reserved()
    with stream:
        x, y, z = (device_bytes(1000) for _ in range(3))
    assert memory.memory_reserved() == reserved + 2 * MIB
    assert [y.data_ptr() - x.data_ptr(), z.data_ptr() - y.data_ptr()] == [1024, 1024]
    base = x.data_ptr()
    del x, z  # z merges with the rest, x has a neighbor in use
    segment = next(s for s in memory.memory_snapshot() if s["address"] == base)
    states = [(b["state"], b["size"]) for b in segment["blocks"]]
    rest = 2 * MIB - 2048
    assert states == [
        ("inactive", 1024), ("active_allocated", 1024), ("inactive", rest)
    ]  # fmt: skip
    memory.empty_cache()  # the segment is still in pieces
    assert memory.memory_reserved() == reserved + 2 * MIB
    del y
    memory.empty_cache()
    assert memory.memory_reserved() == reserved


@pytest.mark.parametrize(
    ("size", "rounded", "segment"),
    [
        (1, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (11 * MIB, 11 * MIB, 12 * MIB),  # the rest is too small to be split off
    ],
)
def test_sizes_are_those_of_the_table(settings, size, rounded, segment):
    with stream_without_memory():
        reserved, allocated = memory.memory_reserved(), memory.memory_allocated()
        x = device_bytes(size)
        assert memory.memory_reserved() - reserved == segment
        kept_whole = segment - rounded <= MIB and size > MIB
        assert memory.memory_allocated() - allocated == (
            segment if kept_whole else rounded
        )
        assert memory.memory_stats()["requested_bytes.all.current"] >= size
        del x


def test_out_of_memory_frees_the_cache_first(run_forked):
    program = """
        import torch
        x = torch.empty(40 << 20, dtype=torch.uint8, device="openreg")
        del x  # cached
        y = torch.empty(60 << 20, dtype=torch.uint8, device="openreg")
        z = torch.empty(3 << 20, dtype=torch.uint8, device="openreg")
        print(torch.openreg.memory_reserved() >> 20)
        try:
            torch.empty(60 << 20, dtype=torch.uint8, device="openreg")
        except torch.OutOfMemoryError as error:
            print(error)
        del z
        print(torch.ones(1, device="openreg").item())
        print(torch.openreg.memory_stats()["num_ooms"])
    """
    process = run_forked(program, OPENREG_DEVICE_MEMORY=str(64 * MIB))
    assert process.returncode == 0, process.stderr
    reserved, error, *rest = process.stdout.splitlines()
    assert reserved == "63"  # 20 MiB did not fit: 3 MiB did
    assert (
        "openreg:0: tried to allocate 60.00 MiB. The device has 64.00 MiB, of which "
        "1.00 MiB are free. Tensors hold 63.00 MiB; 0 bytes more are reserved"
    ) in error
    assert rest == ["1.0", "1"]


@pytest.mark.needs(capability="full memory")
@pytest.mark.parametrize("failures", [1, 2, 3])
def test_an_allocation_is_tried_again(failures):
    if hasattr(torch.openreg, "ipc_collect"):  # stage 9
        torch.openreg.ipc_collect()  # what other tests sent would be one more try
    memory.empty_cache()
    memory.reset_accumulated_memory_stats()
    fail_allocations(failures)
    try:
        if failures < 3:  # at first, after the oversize ones, after all
            device_bytes(64 * MIB)
        else:
            with pytest.raises(torch.OutOfMemoryError, match=r"allocate 64\.00 MiB"):
                device_bytes(64 * MIB)
    finally:
        reset()
    stats = memory.memory_stats()
    assert (stats["num_alloc_retries"], stats["num_ooms"]) == (1, failures == 3)
    assert device_bytes(64 * MIB).numel() == 64 * MIB


def test_the_memory_fraction_is_a_limit():
    memory.empty_cache()
    total = memory.mem_get_info()[1]
    reserved = memory.memory_reserved()
    memory.set_per_process_memory_fraction((reserved + 32 * MIB) / total)
    try:
        x = device_bytes(24 * MIB)
        with pytest.raises(torch.OutOfMemoryError, match="This process may use"):
            device_bytes(24 * MIB)
        del x
        device_bytes(26 * MIB)  # the cache is freed first
    finally:
        memory.set_per_process_memory_fraction(1.0, "openreg:0")
    assert memory.get_per_process_memory_fraction() == 1.0
    with pytest.raises(ValueError, match=r"the memory fraction is 1\.5"):
        memory.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="not a float"):
        memory.set_per_process_memory_fraction(1)


def test_zero_bytes_have_a_device_and_raw_memory_an_owner():
    x = torch.empty(0, device="openreg:1")
    assert (x.data_ptr(), x.device.index) == (0, 1)
    x.record_stream(torch.Stream("openreg:1"))
    before = memory.memory_allocated(1)
    address = memory.caching_allocator_alloc(1000, 1)
    assert memory.memory_allocated(1) == before + 1024
    memory.caching_allocator_delete(address)
    assert memory.memory_allocated(1) == before
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        memory.caching_allocator_delete(address)
    with pytest.raises(ValueError, match="cannot allocate 0 bytes"):
        memory.caching_allocator_alloc(0)
    with pytest.raises(ValueError, match="is not a stream of device 0"):
        memory.caching_allocator_alloc(1, 0, torch.Stream("openreg:1"))
    with pytest.raises(ValueError, match="is not a stream of device 0"):
        memory.caching_allocator_alloc(1, 0, torch.Stream("cpu"))


def test_raw_memory_takes_the_handle_of_a_stream():
    stream = torch.Stream("openreg")
    addresses = [
        memory.caching_allocator_alloc(100, 0, which)
        for which in (stream, stream.native_handle, 0)
    ]
    streams = {
        block["address"]: segment["stream"]
        for segment in memory.memory_snapshot()
        for block in segment["blocks"]
    }
    for address in addresses:
        memory.caching_allocator_delete(address)
    handle = stream.native_handle
    assert [streams[address] for address in addresses] == [handle, handle, 0]
    with pytest.raises(torch.AcceleratorError, match="0x3039 is not a live stream"):
        memory.caching_allocator_alloc(100, 0, 12345)


def test_a_copy_on_write_clone_copies_its_memory():
    x = torch.arange(100.0).to("openreg")
    y = torch._lazy_clone(x)
    y.add_(1)  # now Allocator::clone copies
    assert x.tolist() == [float(i) for i in range(100)]
    assert y.tolist() == [float(i + 1) for i in range(100)]


def test_a_private_pool_keeps_its_memory():
    pool = memory.MemPool()
    with memory.use_mem_pool(pool):
        x = device_bytes(3 * MIB)
        others: list[torch.Tensor] = []
        thread = threading.Thread(target=lambda: others.append(device_bytes(3 * MIB)))
        thread.start()
        thread.join()
    address = x.data_ptr()
    assert [s["address"] for s in pool.snapshot()] == [address]
    del x
    others.clear()
    name = f"reserved_bytes_by_private_pools.{pool.id[0]}_{pool.id[1]}"
    memory.empty_cache()  # the pool still has a user
    assert memory.memory_stats()[f"{name}.all.current"] == 20 * MIB
    memory.reset_peak_memory_stats()  # forgets pools, but none that has memory
    nested = memory.memory_stats_as_nested_dict()["reserved_bytes_by_private_pools"]
    peaks = {line: counters["peak"] for line, counters in nested[pool.id].items()}
    assert peaks == {"all": 20 * MIB, "large_pool": 20 * MIB, "small_pool": 0}
    assert device_bytes(3 * MIB).data_ptr() != address
    with memory.use_mem_pool(pool):
        assert device_bytes(3 * MIB).data_ptr() == address
    identity = pool.id
    del pool
    assert memory.memory_snapshot(identity) == []
    stats = memory.memory_stats()
    assert [stats[f"{name}.all.{k}"] for k in ("current", "freed")] == [0, 20 * MIB]
    memory.reset_peak_memory_stats()
    assert f"{name}.all.current" not in memory.memory_stats()
    with pytest.raises(ValueError, match="has no memory pool"):
        torch.openreg._C._release_memory_pool(0, identity)
    with pytest.raises(ValueError, match="no allocation to the pool"):
        torch.openreg._C._end_allocate_to_pool(0, identity)


def test_events_wait_for_the_end_of_a_private_pool():
    pool, side = memory.MemPool(), torch.Stream("openreg")
    with memory.use_mem_pool(pool):
        x = device_bytes(3 * MIB)
        address = x.data_ptr()
        x.record_stream(side)
        del x  # an event would invalidate a capture
        assert device_bytes(3 * MIB).data_ptr() != address
        assert memory.memory_snapshot(pool.id)[0]["active_size"] > 0
    with memory.use_mem_pool(pool):
        pass
    device_bytes(1)  # asks after the events
    assert memory.memory_snapshot(pool.id)[0]["active_size"] == 0


def test_every_name_of_torch_xpu_is_here():
    theirs = set(torch.xpu.memory.__all__)
    missing = {"XPUPluggableAllocator", "change_current_allocator"}
    if has_changed("torch.xpu lists processes"):
        missing.add("list_gpu_processes")
    assert theirs - set(memory.__all__) == missing
    assert set(memory.__all__) <= set(torch.openreg.__all__)
    assert Path(memory.__file__).name == "memory.py"

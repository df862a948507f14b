# Locks, the GIL, threads, forks and settings of memory; see docs/runtime/memory.md.
import random
import subprocess
import threading
from itertools import pairwise
from queue import Queue

import hypothesis.strategies as st
import pytest
import torch
from empty_pool import stream_without_memory
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
)
from patience import PATIENCE

MIB = 1 << 20
memory = torch.openreg.memory
hold = torch.openreg.simulator.hold


def device_bytes(count: int) -> torch.Tensor:
    return torch.empty(count, dtype=torch.uint8, device="openreg")


def test_nobody_else_waits_while_the_cache_is_emptied():
    """Rules 1, 2 and 5: hits, frees and counters need no lock that a waiter has."""
    x = device_bytes(1000)  # a segment, or there would be nothing to empty
    side = torch.Stream("openreg")
    with hold(side):
        with side:
            device_bytes(1000).fill_(1)  # the device is busy
        waiting = threading.Thread(target=memory.empty_cache)
        waiting.start()
        waiting.join(0.2)
        for _ in range(100):
            y = device_bytes(1000)  # a hit
            y.record_stream(side)
            del y
            device_bytes(1000)
            assert memory.memory_allocated() > 0
            assert memory.memory_snapshot()
        assert waiting.is_alive()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
    del x


NEEDS_GIL = """
    import ctypes, pathlib, threading, torch, torch_openreg
    package = pathlib.Path(torch_openreg.__file__).parent
    driver = ctypes.CDLL(package / "lib/libopenreg.so")
    started, gate = threading.Event(), threading.Event()
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def kernel(args):
        started.set()
        BODY
        return 0
    x = torch.ones(1, device="openreg")
    torch.openreg.synchronize()
    assert driver.orLaunchKernel(b"kernel", kernel, None, None, None) == 0
    started.wait()  # the device runs it, on its own thread
    threading.Timer(0.3, gate.set).start()  # this thread needs the GIL
    CALL
    print("done")
"""


def test_empty_cache_lets_go_of_the_gil(run_forked):
    program = NEEDS_GIL.replace("BODY", "gate.wait()")
    process = run_forked(program.replace("CALL", "torch.openreg.empty_cache()"))
    assert process.stdout == "done\n", process.stderr


def test_gap_the_empty_cache_of_torch_keeps_the_gil(run_forked):
    """Pins a limit of torch 2.13: it waits with the GIL, so the gate stays shut."""
    call = """import faulthandler
    faulthandler.dump_traceback_later(5, exit=True)  # needs no GIL
    torch.accelerator.empty_cache()"""
    program = NEEDS_GIL.replace("0.3", "3")  # not before it waits with the GIL
    program = program.replace("BODY", "gate.wait()").replace("CALL", call)
    process = run_forked(program)
    assert process.stdout == ""
    assert process.returncode == 1
    assert "in empty_cache" in process.stderr


def test_a_kernel_gets_no_new_memory(run_forked):
    """Rule 4: the driver refuses a kernel that asks for memory."""
    body = """try:
            torch.empty(64 << 20, dtype=torch.uint8, device="openreg")
        except torch.AcceleratorError as error:
            print("not permitted", error.error_code)"""
    program = NEEDS_GIL.replace("BODY", body)
    process = run_forked(program.replace("CALL", "torch.openreg.synchronize()"))
    assert process.stdout == "not permitted 800\ndone\n", process.stderr


RECORDING = """
    import threading, torch
    from torch.openreg import memory
    memory._record_memory_history(stacks="python", max_entries=1000)
    def work():
        for i in range(150):
            x = torch.empty(1000 * (i % 7 + 1), device="openreg")
            del x
    def empty():
        while any(t.is_alive() for t in threads):
            torch.accelerator.empty_cache()  # with the GIL
            memory._snapshot()
    threads = [threading.Thread(target=work) for _ in range(4)]
    emptying = threading.Thread(target=empty)
    for t in threads + [emptying]:
        t.start()
    for t in threads + [emptying]:
        t.join()
    print("done")
"""


def test_stacks_are_gathered_before_the_lock(run_forked):
    """Rule 3: gathering takes the GIL, which the holder of the lock may wait for."""
    process = run_forked(RECORDING)
    assert process.stdout == "done\n", process.stderr


def test_the_gpu_trace_is_told(run_forked):
    program = """
        import torch
        seen = []
        torch.openreg._gpu_trace.register_callback_for_memory_allocation(
            lambda p: seen.append((p, torch.openreg.memory_allocated() > 0)))
        torch.openreg._gpu_trace.register_callback_for_memory_deallocation(
            lambda p: seen.append((p, torch.openreg.memory_allocated() > 0)))
        torch._C._activate_gpu_trace()
        x = torch.empty(10, device="openreg")
        address = x.data_ptr()
        del x
        print(seen == [(address, True)] * 2)  # the callbacks may use the allocator
    """
    process = run_forked(program)
    assert process.stdout == "True\n", process.stderr


def test_without_python(compile_cpp):
    """Threads that never saw Python allocate, record and free; also at exit."""
    process = subprocess.run(
        [compile_cpp("allocator")], capture_output=True, text=True, timeout=PATIENCE
    )
    assert process.stdout.startswith("ok\n"), process.stdout + process.stderr
    assert process.returncode == 0


@pytest.mark.needs(devices=2)
def test_each_device_has_a_lock(compile_cpp):
    process = subprocess.run(
        [compile_cpp("device_locks")], capture_output=True, text=True, timeout=PATIENCE
    )
    assert process.stdout == "independent\n", process.stderr


def test_a_forked_child_finds_no_lock(run_forked):
    program = """
        import os, threading, torch
        x = torch.ones(1000, device="openreg")
        stop = threading.Event()
        def allocate():
            while not stop.is_set():
                torch.empty(1000, device="openreg")
        threads = [threading.Thread(target=allocate) for _ in range(3)]
        for t in threads:
            t.start()
        statuses = []
        for _ in range(5):  # each time another thread may have the lock
            child = os.fork()
            if child == 0:
                del x
                torch.openreg.empty_cache()
                assert torch.accelerator.memory_stats() == {}
                assert torch.openreg.memory_snapshot() == []
                os._exit(0)
            statuses.append(os.waitpid(child, 0)[1])
        stop.set()
        for t in threads:
            t.join()
        print(statuses, x.sum().item())
    """
    process = run_forked(program)
    assert process.stdout == f"{[0] * 5} 1000.0\n", process.stderr


def test_eight_threads_pass_memory_around():
    before = memory.memory_allocated()
    queues: list[Queue] = [Queue() for _ in range(8)]
    wrong: list[object] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        stream = torch.Stream("openreg")
        try:
            with stream:
                for step in range(60):
                    value = number * 100 + step
                    x = torch.full((chance.randint(1, 4000),), value, device="openreg")
                    queues[(number + 1) % 8].put((x, value, stream.record_event()))
                    y, expected, event = queues[number].get(timeout=PATIENCE)
                    stream.wait_event(event)
                    total = y + 1
                    y.record_stream(stream)
                    del x, y
                    if chance.random() < 0.05:
                        memory.empty_cache()
                    if not torch.equal(
                        total.cpu(), torch.full_like(total.cpu(), expected + 1)
                    ):
                        wrong.append((number, step))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    with torch.openreg.simulator.delay(20, seed=1):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    torch.openreg.synchronize()
    assert memory.memory_allocated() == before


class AllocatorModel(RuleBasedStateMachine):
    """Against a model: which tensors live, what is in them, who uses them."""

    live = Bundle("live")

    def __init__(self) -> None:
        super().__init__()
        memory.empty_cache()
        self.streams = [torch.Stream("openreg") for _ in range(3)]
        self.tensors: dict[int, tuple[torch.Tensor, int]] = {}
        self.results: list[tuple[torch.Tensor, int]] = []
        self.count = 0
        self.before = memory.memory_stats()
        self.others = self._blocks()

    @staticmethod
    def _blocks() -> set[int]:
        segments = memory.memory_snapshot()
        blocks = [b for s in segments if s["device"] == 0 for b in s["blocks"]]
        return {b["address"] for b in blocks if b["state"] == "active_allocated"}

    @rule(
        target=live,
        size=st.sampled_from([1, 500, 513, 4000, 90_000, 400_000])
        | st.integers(1, 3000),
        stream=st.integers(0, 2),
    )
    def allocate(self, size: int, stream: int) -> int:
        self.count += 1
        with self.streams[stream]:
            x = torch.full((size,), self.count, dtype=torch.int32, device="openreg")
        self.tensors[self.count] = (x, stream)
        return self.count

    @rule(name=live, stream=st.integers(0, 2))
    def use_on_another_stream(self, name: int, stream: int) -> None:
        if name in self.tensors:
            x, owner = self.tensors[name]
            self.streams[stream].wait_stream(self.streams[owner])
            with self.streams[stream]:
                self.results.append((x[:100] + 1, name + 1))
            x.record_stream(self.streams[stream])

    @rule(name=consumes(live))
    def free(self, name: int) -> None:
        self.tensors.pop(name, None)

    @rule()
    def empty_cache(self) -> None:
        memory.empty_cache()

    @invariant()
    def the_books_are_right(self) -> None:
        segments = [s for s in memory.memory_snapshot() if s["device"] == 0]
        stats = memory.memory_stats()
        found = {}
        for segment in segments:
            blocks = segment["blocks"]
            assert sum(b["size"] for b in blocks) == segment["total_size"]
            states = [b["state"] for b in blocks]
            assert ("inactive", "inactive") not in pairwise(states)
            found |= {
                b["address"]: b for b in blocks if b["state"] == "active_allocated"
            }
        assert (
            sum(b["size"] for b in found.values())
            == (stats["allocated_bytes.all.current"])
        )
        assert (
            sum(s["total_size"] for s in segments)
            == (stats["reserved_bytes.all.current"])
        )
        for x, _ in self.tensors.values():
            assert x.nbytes <= found[x.data_ptr()]["size"]
        wanted = [x.data_ptr() for x, _ in self.tensors.values()]
        wanted += [y.data_ptr() for y, _ in self.results]
        assert len(set(wanted)) == len(wanted)  # no memory is shared
        assert set(found) == set(wanted) | self.others

    def teardown(self) -> None:
        torch.openreg.synchronize()  # cpu() waits for the default stream only
        for name, (x, _) in self.tensors.items():
            assert x.cpu().unique().tolist() == [name]
        for y, expected in self.results:
            assert y.cpu().unique().tolist() == [expected]
        self.tensors.clear()
        self.results.clear()


AllocatorModel.TestCase.settings = hypothesis_settings(
    max_examples=15, stateful_step_count=25, deadline=None
)
TestAllocatorModel = AllocatorModel.TestCase


@pytest.fixture
def configure():
    """Change PYTORCH_ALLOC_CONF for one test, with an empty cache."""
    memory.empty_cache()
    yield torch._C._accelerator_setAllocatorSettings
    defaults = "large_segment_size_mb:20,max_non_split_rounding_mb:20"
    torch._C._accelerator_setAllocatorSettings(defaults)
    memory.empty_cache()


def reserved_by(*sizes: int) -> int:
    """Return by how much MiB the reserve grew after tensors that died at once."""
    stream = stream_without_memory()
    before = memory.memory_reserved()
    with stream:
        for size in sizes:
            device_bytes(size * MIB)
    return (memory.memory_reserved() - before) // MIB


@pytest.mark.parametrize(
    ("setting", "sizes", "reserved"),
    [
        ("", (64, 16), 64),  # 16 MiB are split off
        ("max_split_size_mb:32", (64, 16), 80),  # not from an oversize block
        ("max_split_size_mb:32", (64, 50), 64),  # about its size
        ("max_split_size_mb:32", (64, 40), 104),
        ("max_split_size_mb:32,max_non_split_rounding_mb:30", (64, 40), 64),
        ("large_segment_size_mb:40", (2,), 40),
        ("garbage_collection_threshold:0.005", (20, 30), 30),  # of 8 GiB: 41 MiB
        ("garbage_collection_threshold:0.5", (20, 30), 50),
        ("expandable_segments:False", (2,), 20),
    ],
)
def test_what_a_setting_does(configure, setting, sizes, reserved):
    configure(setting)
    assert reserved_by(*sizes) == reserved


def test_sizes_are_rounded_to_a_division_of_a_power_of_two(configure):
    for setting, expected in (("", 1200), ("roundup_power2_divisions:4", 1280)):
        configure(setting)
        with stream_without_memory():
            before = memory.memory_allocated()
            x = device_bytes(1200 * 1024)
            assert memory.memory_allocated() - before == expected * 1024
            del x


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("backends:native", "Unrecognized key 'backends'"),
        ("expandable_segments:True", "needs a driver that maps"),
        ("openreg_memory_fraction:2", "must be from 0 to 1"),
        ("max_split_size_mb:1", "max_split_size_mb too small"),
        ("garbage_collection_threshold:7", "set it in"),
    ],
)
def test_bad_settings_are_refused(configure, setting, message):
    with pytest.raises(ValueError, match=message):
        configure(setting)
    assert device_bytes(10).numel() == 10  # goes on
    # A limit of torch: it keeps the refused text, and keys before the bad one.
    assert torch._C._accelerator_getAllocatorSettings() == setting
    configure("")


@pytest.mark.smoke
def test_keys_of_cuda_pass_where_torch_has_cuda(configure):
    """A CUDA build of torch registers its keys, so that no allocator refuses them."""
    if torch.version.cuda:
        configure("backend:native,openreg_memory_fraction:1")
        assert device_bytes(10).numel() == 10
    else:
        with pytest.raises(ValueError, match="Unrecognized key 'backend'"):
            configure("backend:native")
    configure("")


@pytest.mark.smoke
def test_a_bad_variable_is_refused_by_the_first_tensor(run_python):
    program = """
        import torch
        for _ in range(2):
            try:
                torch.empty(1, device="openreg")
            except ValueError as error:
                print(error)
    """
    process = run_python(program, PYTORCH_ALLOC_CONF="backends:native")
    line = "Unrecognized key 'backends' in Accelerator allocator config.\n"
    assert process.stdout == line * 2, process.stderr


@pytest.mark.smoke
def test_the_variable_sets_the_fraction(run_python):
    program = "import torch; print(torch.openreg.get_per_process_memory_fraction(1))"
    variable = "openreg_memory_fraction:0.25,max_split_size_mb:64"
    assert run_python(program, PYTORCH_ALLOC_CONF=variable).stdout == "0.25\n"

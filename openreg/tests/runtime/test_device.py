# Devices: current one, start, threads, fork, spawn; see docs/runtime/device.md.
import textwrap

import pytest
import torch
from contract import code, table

pytestmark = pytest.mark.smoke  # forks, versions and names: see pyproject.toml

# -- which device --


@pytest.mark.parametrize("device", [1, "openreg:1", torch.device("openreg", 1)])
def test_each_spelling_of_a_device_is_understood(device):
    torch.openreg.set_device(device)
    assert torch.openreg.current_device() == 1
    torch.openreg.set_device(0)
    with torch.openreg.device(device):
        assert torch.openreg.current_device() == 1
        assert torch.empty(1, device="openreg").device.index == 1
    assert torch.openreg.current_device() == 0


def test_a_negative_index_and_none_change_nothing():
    torch.openreg.set_device(1)
    torch.openreg.set_device(-1)
    for nothing in (-1, None):
        with torch.openreg.device(nothing):
            assert torch.openreg.current_device() == 1
    assert torch.openreg.current_device() == 1


@pytest.mark.parametrize("index", [2, 99])
def test_a_device_that_does_not_exist_changes_nothing(index):
    torch.openreg.set_device(1)
    with pytest.raises(torch.AcceleratorError, match=f"device.*{index}"):
        torch.openreg.set_device(index)
    with pytest.raises(torch.AcceleratorError, match=f"device.*{index}"):
        torch.openreg.device(index).__enter__()
    for call in (torch.openreg.get_device_properties, torch.openreg.synchronize):
        with pytest.raises(torch.AcceleratorError, match=f"device.*{index}"):
            call(index)
    with pytest.raises(torch.AcceleratorError, match=f"device.*{index}"):
        torch.empty(1, device=f"openreg:{index}")
    assert torch.openreg.current_device() == 1


def test_contexts_nest_and_survive_exceptions():
    with pytest.raises(KeyError), torch.openreg.device(1), torch.openreg.device(0):
        raise KeyError
    assert torch.openreg.current_device() == 0


def test_properties_are_the_drivers():
    for index in range(torch.openreg.device_count()):
        properties = torch.openreg.get_device_properties(index)
        total = torch.accelerator.get_memory_info(index)[1]
        assert properties.total_memory == total
        assert properties.name == torch.openreg.get_device_name(index)
        assert properties.multi_processor_count >= 1


def test_eight_threads_have_eight_current_devices(run_forked):
    program = """
        import threading, torch
        barrier = threading.Barrier(8)
        wrong = []
        def work(index):
            torch.openreg.set_device(index)
            for _ in range(50):
                barrier.wait()
                x = torch.full((4,), float(index), device="openreg") + 1
                if x.device.index != index or x.tolist() != [index + 1.0] * 4:
                    wrong.append(index)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(wrong, torch.openreg.current_device())
    """
    process = run_forked(program, OPENREG_DEVICE_COUNT="8")
    assert process.stdout == "[] 0\n", process.stderr


def test_the_defaults_of_the_environment(run_forked):
    """docs/reference/environment.md and the README name these."""
    process = run_forked("""
        import torch
        device = torch.openreg
        memory = device.get_device_properties(0).total_memory
        print(device.device_count(), memory >> 30, device.fallback_mode())
        print(torch.openreg.simulator._get_delay())
        """)
    assert process.stdout == "2 8 allow\n(0, 0)\n"


def test_without_a_device_every_call_says_so(run_forked):
    program = """
        import torch
        print(torch.openreg.is_available(), torch.accelerator.device_count())
        for call in (lambda: torch.ones(1, device="openreg"), torch.openreg.init,
                     torch.accelerator.current_device_index,
                     lambda: torch.Stream("openreg")):
            try:
                call()
            except RuntimeError as error:
                print("OPENREG_DEVICE_COUNT is 0" in str(error))
    """
    process = run_forked(program, OPENREG_DEVICE_COUNT="0")
    assert process.stdout.split() == ["False", "0", *["True"] * 4], process.stderr


# -- the start, and fork --

IN_A_CHILD = """
    import os, signal, sys, warnings, torch
    warnings.simplefilter("ignore")
    def in_a_child(function):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # a child that hangs is ended
            try:
                text = str(function())
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
            os.write(write, text.encode())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        os.close(write)
        return f"signal {status}" if status else os.read(read, 10000).decode()
"""
FORKED = ("must use the 'spawn' start method", "was forked from one that had already")


def test_the_table_says_what_starts_the_device_and_what_a_child_may_do(run_forked):
    rows = table("runtime/device.md", "Call")
    program = (
        IN_A_CHILD
        + f"""
    calls = {[code(row[0])[0] for row in rows]!r}
    for call in calls:
        print(in_a_child(lambda: (eval(call), torch.openreg.is_initialized())[1]))
    torch.empty(1, device="openreg")
    for call in calls:
        print(in_a_child(lambda: (eval(call), "works")[1]).replace("\\n", " "))
    """
    )
    process = run_forked(program)
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    starts, child = lines[: len(rows)], lines[len(rows) :]
    for row, started, result in zip(rows, starts, child, strict=True):
        assert (row[1] == "yes") == (started == "True"), (row, started)
        if row[2] == "works":
            assert result == "works", (row, result)
        else:
            assert any(words in result for words in FORKED), (row, result)


def test_objects_that_a_child_inherits_raise_and_never_hang_or_abort(run_forked):
    program = (
        IN_A_CHILD
        + """
    x = torch.ones(3, device="openreg")
    stream, event = torch.Stream("openreg"), torch.Event("openreg")
    event.record()
    raising = [
        lambda: x + 1, lambda: x.cpu(), lambda: x.clone(), lambda: x.fill_(1),
        lambda: x * 2, lambda: x.sum().item(), lambda: x.untyped_storage().resize_(99),
        lambda: x.requires_grad_().sum().backward(), lambda: repr(x),
        lambda: x.to("openreg:1"), lambda: torch.rand(2, device="openreg"),
        stream.synchronize, stream.query, event.record, event.query, event.synchronize,
        lambda: stream.__enter__(), lambda: stream.wait_stream(torch.Stream("openreg")),
        lambda: torch.openreg.device(1).__enter__(), lambda: torch.ones(2).pin_memory(),
    ]
    for number, call in enumerate(raising):
        text = in_a_child(call)
        if "fork" not in text:
            print("call", number, "did not raise:", text)
    die = lambda: globals().pop("x").ndim
    print(in_a_child(lambda: x.view(3).shape), in_a_child(die))
    print((x + 1).tolist())
    """
    )
    process = run_forked(program)
    lines = ["torch.Size([3]) 1", "[2.0, 2.0, 2.0]"]
    assert process.stdout.splitlines() == lines, process.stdout + process.stderr


def test_a_child_never_takes_the_lock_of_inherited_pools_and_of_the_history(run_forked):
    """Another thread may have held it at the fork: a call that waits would hang."""
    program = (
        IN_A_CHILD
        + """
    from torch_openreg import _C
    x = torch.ones(3, device="openreg")
    graph, pool = torch.accelerator.Graph(), torch.openreg.MemPool()
    with torch.Stream("openreg"), graph:
        x + 1
    context = torch.openreg.use_mem_pool(pool)
    context.__enter__()
    raising = [
        lambda: torch.openreg.memory._record_memory_history(),
        lambda: torch.openreg.memory._record_memory_history(None),
        lambda: torch.openreg.use_mem_pool(pool).__enter__(),
        lambda: torch.accelerator.Graph(pool=graph.pool()).capture_begin(),
        lambda: _C._retain_memory_pool(0, pool.id),
    ]
    for number, call in enumerate(raising):
        text = in_a_child(call)
        if "was forked from one that had already" not in text:
            print("call", number, "did not raise:", text)
    unknown = (77, 77)  # of which a look under the lock would complain
    print(in_a_child(lambda: _C._end_allocate_to_pool(0, unknown)))
    print(in_a_child(lambda: _C._release_memory_pool(0, unknown)))
    print(in_a_child(lambda: context.__exit__(None, None, None) or None))
    print(in_a_child(lambda: globals().pop("pool").__del__()))
    """
    )
    process = run_forked(program)
    assert process.stdout.split() == ["None"] * 4, process.stdout + process.stderr


def test_a_child_never_takes_the_lock_of_counters(run_forked):
    program = (
        IN_A_CHILD
        + """
    from torch.openreg import memory
    x, pinned = torch.ones(3, device="openreg"), torch.ones(3).pin_memory()
    print(in_a_child(lambda: set(memory.host_memory_stats().values())))
    for call in (memory.memory_stats_as_nested_dict, memory.memory_stats,
                 memory.memory_allocated, memory.reset_peak_memory_stats):
        print(in_a_child(lambda: call(0)))
    for call in (memory.reset_peak_host_memory_stats,
                 memory.reset_accumulated_host_memory_stats,
                 torch.accelerator.empty_host_cache):
        print(in_a_child(call))
    """
    )
    process = run_forked(program)
    results = ["{0}", "{}", "OrderedDict()", "0", *["None"] * 4]
    assert process.stdout.split() == results, process.stdout + process.stderr


def test_a_fork_while_streams_are_busy(run_forked):
    program = (
        IN_A_CHILD
        + """
    x = torch.ones(3, device="openreg")
    side = torch.Stream("openreg")
    with torch.openreg.simulator.hold(side):
        with side:
            y = x + 1  # waits
        for _ in range(5):
            text = in_a_child(lambda: torch.ones(1, device="openreg"))
            assert "'spawn' start method" in text, text
            text = in_a_child(lambda: side.synchronize())
            assert "fork" in text, text
    side.synchronize()
    print(y.tolist())
    """
    )
    process = run_forked(program)
    assert process.stdout == "[2.0, 2.0, 2.0]\n", process.stdout + process.stderr


@pytest.mark.parametrize("use", ["torch.Stream('openreg')", "torch.openreg.init()"])
def test_every_way_to_start_the_device_is_noticed_by_a_fork(run_forked, use):
    program = (
        IN_A_CHILD
        + f"""
    kept = {use}
    print(torch.openreg.is_initialized(), torch.openreg._initialized)
    print(in_a_child(lambda: torch.openreg._is_in_bad_fork()))
    print(in_a_child(lambda: torch.openreg.is_initialized()))
    print(in_a_child(lambda: torch.openreg.is_available()))
    print(in_a_child(lambda: torch.ones(1, device="openreg")))
    """
    )
    lines = run_forked(program).stdout.splitlines()
    assert lines[:4] == ["True True", "True", "False", "True"]
    assert lines[4].startswith("RuntimeError: Cannot re-initialize openreg")


def test_a_child_forked_before_the_first_use_has_a_device_and_so_has_its_parent(
    run_forked,
):
    program = (
        IN_A_CHILD
        + """
    torch.openreg.set_device(1)  # does not start it
    work = lambda: (torch.ones(2, device="openreg") + 1).device
    print(in_a_child(work), in_a_child(work), work(), torch.openreg._is_in_bad_fork())
    """
    )
    process = run_forked(program)
    assert process.stdout == "openreg:1 openreg:1 openreg:1 False\n", process.stderr


def test_pools_of_processes(tmp_path, run_forked):
    script = tmp_path / "pool.py"
    script.write_text(
        textwrap.dedent("""
        import multiprocessing, torch
        def work(number):
            return (torch.full((2,), number, device="openreg") + 1).tolist()
        if __name__ == "__main__":
            x = torch.ones(1, device="openreg")
            with multiprocessing.get_context("fork").Pool(1) as pool:
                try:
                    pool.map_async(work, [1]).get(300)
                except RuntimeError as error:
                    print(error)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map_async(work, [1, 2]).get(300))
            print((x + 1).tolist())
    """)
    )
    process = run_forked(
        f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    first, *rest = process.stdout.splitlines()
    assert "'spawn' start method" in first, process.stderr
    assert rest == ["[[2, 2], [3, 3]]", "[2.0]"]


def test_the_error_of_an_inherited_tensor_passes_through_a_pool(run_forked):
    program = """
        import multiprocessing, torch
        x = torch.ones(1, device="openreg")
        def work(number):
            return (x + number).tolist()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            try:
                pool.map_async(work, [1]).get(300)
            except torch.AcceleratorError as error:
                print("fork" in str(error))
    """
    process = run_forked(program)
    assert process.stdout == "True\n", process.stderr


def test_the_device_starts_once_from_many_threads(run_forked):
    program = """
        import threading, torch
        barrier = threading.Barrier(8)
        results = []
        def work(i):
            barrier.wait()
            results.append((torch.ones(2, device=f"openreg:{i % 2}") + i).sum().item())
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(sorted(results))
    """
    expected = [2.0 * (i + 1) for i in range(8)]
    process = run_forked(program)
    assert process.stdout == f"{expected}\n", process.stderr


def test_is_initialized_is_one_truth():
    torch.ones(1, device="openreg")
    assert torch.openreg.is_initialized() is torch.openreg._initialized is True
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        torch.openreg.nothing  # noqa: B018

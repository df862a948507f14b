# How a group ends: abort, destroy, exit, fork; see
# docs/modules/distributed-failures.md.
import ctypes
import datetime
import itertools
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch_openreg
from ranks import Ranks, join, message, reset

openreg = torch.openreg
DEVICE = torch.device("openreg", 0)
ErrorType = torch._C._distributed_c10d.ErrorType


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    group = Ranks(2, tmp_path_factory.mktemp("group"), "occl", device_id=DEVICE)
    yield group
    group.close()


@pytest.fixture
def two(shared, tmp_path):
    """A group that a test may break; then the processes make a new one."""
    yield shared
    for rank, peer in enumerate(shared.peers):
        peer.start(rejoin, str(tmp_path / "store"), rank)
    assert shared.answers() == [[3.0, 3.0]] * 2


def rejoin(state, file, rank):
    reset(state)
    if dist.is_initialized():
        dist.destroy_process_group()
    join(state, file, rank, 2, "occl", 60, {"device_id": DEVICE})
    return healthy(state)


def healthy(state):
    x = tensor(2) * (dist.get_rank() + 1)
    dist.all_reduce(x)
    return x.tolist()


def tensor(*shape):
    return torch.ones(shape, device="openreg")


def backend_of(group=None):
    return (group or dist.group.WORLD)._get_backend(DEVICE)


# -- abort --

STARTS = {
    "collective": lambda x: dist.all_reduce(x, async_op=True),
    "barrier": lambda x: dist.barrier(async_op=True),
    "message": lambda x: dist.irecv(x, 1),
    "any message": lambda x: dist.irecv(x),
    "device": lambda x: None,  # waits for all that was enqueued before
}


def abort(state, how):
    """Rank 0 waits for a rank that does not come, until another thread ends it."""
    store, backend = dist.distributed_c10d._get_default_store(), backend_of()
    if dist.get_rank() == 1:
        store.wait(["rank 0 has aborted"])
        return message(lambda: dist.all_reduce(tensor(2)))
    x = tensor(2)
    work = dist.all_reduce(x, async_op=True)
    behind = dist.all_reduce(x, async_op=True)
    before = backend.get_error()
    last, waits = STARTS[how](x), threading.Event()

    def other_thread():
        waits.wait()
        dist.distributed_c10d._abort_process_group()
        store.set("rank 0 has aborted", "")

    thread = threading.Thread(target=other_thread)
    thread.start()
    waits.set()
    try:
        last.wait(datetime.timedelta(seconds=60)) if last else openreg.synchronize()
        text = None
    except dist.DistBackendError as error:
        text = str(error)
    thread.join()
    openreg.synchronize()  # no fault: the device is usable
    late = message(lambda: backend.allreduce([x], dist.AllreduceOptions()))
    return (
        text,
        [
            (w.is_completed(), w.is_success(), str(w.exception()))
            for w in (work, behind)
        ],
        (before == ErrorType.SUCCESS, backend.get_error() == ErrorType.COMM_ERROR),
        (tensor(2) + 1).tolist(),
        late,
        dist.is_initialized(),
    )


@pytest.mark.parametrize("how", STARTS)
def test_abort_ends_what_is_under_way(two, how):
    (text, works, errors, usable, late, left), other = two.run(abort, how)
    names = {"barrier": "occl::barrier", "collective": "occl::all_reduce"}
    name = names.get(how, "occl::recv")
    group = "on rank 0 of 2 in group 0 (default_pg)"
    if how == "device":
        assert text is None  # the device has nothing to say about it
    else:
        assert text == f"{name} failed {group}: the group was aborted"
    for completed, success, why in works:
        assert (completed, success) == (True, False)
        assert why.endswith(f"all_reduce failed {group}: the group was aborted")
    assert errors == (True, True)
    assert usable == [2.0, 2.0]
    assert late.endswith(f"was called {group}, after the group was aborted")
    assert left is False
    text = (
        "occl::all_reduce failed on rank 1 of 2 in group 0 (default_pg): rank 0 called"
    )
    assert f"{text} abort()" in other


def test_a_group_of_one_is_aborted(run_forked):
    program = """
        import torch, torch.distributed as dist
        dist.init_process_group("occl", store=dist.HashStore(), rank=0, world_size=1)
        x = torch.ones(2, device="openreg")
        dist.all_reduce(x)
        group = dist.group.WORLD._get_backend(x.device)
        dist.distributed_c10d._abort_process_group()
        print(x.tolist(), dist.is_initialized())
        group.allreduce([x], dist.AllreduceOptions())
    """
    process = run_forked(program)
    assert process.stdout == "[1.0, 1.0] False\n"
    assert "after the group was aborted" in process.stderr.splitlines()[-1]


def abort_one_of_two(state):
    """A subgroup is aborted, the default group goes on."""
    group = dist.new_group([0, 1], group_desc="short-lived")
    if dist.get_rank() == 0:
        work = dist.all_reduce(tensor(2), group=group, async_op=True)
        dist.distributed_c10d._abort_process_group(group)
        text = message(lambda: work.wait(datetime.timedelta(seconds=60)))
    else:
        text = None
    return text, healthy(state)


def test_the_other_groups_go_on(two):
    (text, *sums), (_, *others) = two.run(abort_one_of_two)
    assert "(short-lived): the group was aborted" in text
    assert sums == others == [[3.0, 3.0]]


# -- timeouts --


def late_for_one_call(state):
    """Rank 1 does not come; the timeout belongs to this call."""
    if dist.get_rank() == 1:
        return None
    options = dist.AllreduceOptions()
    options.timeout = datetime.timedelta(milliseconds=300)
    text = message(lambda: dist.group.WORLD.allreduce([tensor(2)], options))
    return text, backend_of().get_error() == ErrorType.TIMEOUT


def test_a_timeout_of_one_call(two):
    (text, timeout), _ = two.run(late_for_one_call)
    assert "occl::all_reduce failed on rank 0 of 2 in group 0 (default_pg): " in text
    assert "imed out" in text
    assert timeout


def late_in_a_group(state):
    dist.barrier()  # the timeout is also that of making the group
    seconds = datetime.timedelta(seconds=5)
    group = dist.new_group([0, 1], timeout=seconds, group_desc="hasty")
    if dist.get_rank() == 1:
        return None
    return message(lambda: dist.barrier(group=group))


def test_a_timeout_of_a_group(two):
    text, _ = two.run(late_in_a_group)
    assert "occl::barrier failed on rank 0 of 2 in group 1 (hasty): " in text
    assert "imed out" in text


# -- destroy --


def destroy(state):
    """Destroy the group while an operation waits for the other rank."""
    me, backend = dist.get_rank(), backend_of()
    x = tensor(2) * (me + 1)
    store = dist.distributed_c10d._get_default_store()
    if me == 1:
        store.wait(["rank 0 has called"])
        dist.all_reduce(x)
    else:
        work = dist.all_reduce(x, async_op=True)
        store.set("rank 0 has called", "")
    dist.destroy_process_group()
    done = me == 1 or work.is_success()
    late = [message(backend.barrier), message(backend.monitored_barrier)]
    return done, x.tolist(), late


def test_destroy_waits_for_what_is_under_way(two):
    for rank, (done, values, late) in enumerate(two.run(destroy)):
        assert done
        assert values == [3.0, 3.0]
        for text, name in zip(late, ("barrier", "monitored_barrier"), strict=True):
            assert text.endswith(
                f"occl::{name} was called on rank {rank} of 2 in group 0 (default_pg), "
                "after the group was destroyed"
            )


def destroy_after_a_fault(state):
    """Device 0 has stopped; what is under way on device 1 comes to its end."""
    dist.all_reduce(tensor(2))  # there is also a stream on device 0
    x = torch.ones(2, device="openreg:1")
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank() == 1:
        store.wait(["rank 0 has called"])
        dist.all_reduce(x)
        done = True
    else:
        work = dist.all_reduce(x, async_op=True)
        openreg.simulator.fail_kernel("add")
        fault = message(lambda: tensor(2) + 1)
        assert "requested by orSimFailKernel()" in fault
        store.set("rank 0 has called", "")
        dist.destroy_process_group()
        done = work.is_success()
        reset(state)
    return done, x.tolist()


def test_destroy_waits_for_each_device(two):
    assert two.run(destroy_after_a_fault) == [(True, [2.0, 2.0])] * 2


# -- other processes and streams --


def fork(state):
    """A child has no group: it cannot use the device either. The parent goes on."""
    x = tensor(2)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = message(lambda: dist.all_reduce(x))
            os.write(writer, str(text).encode())
        finally:
            os._exit(0)
    os.close(writer)
    text = os.read(reader, 10000).decode()
    os.waitpid(child, 0)
    return text, healthy(state)


def test_a_forked_child_is_refused(two):
    for text, sums in two.run(fork):
        assert "this process was forked from one that had already used the" in text
        assert sums == [3.0, 3.0]


def capture(state):
    """A collective takes part in no graph: another rank would have to replay it too."""
    library = Path(torch_openreg.__file__).parent / "lib/libopenreg.so"
    driver, graph = ctypes.CDLL(str(library)), ctypes.c_void_p()
    x, stream = tensor(2), openreg.Stream()
    openreg.synchronize()
    with openreg.stream(stream):
        assert driver.orStreamBeginCapture(stream, 2) == 0
        try:
            dist.all_reduce(x)
            text = None
        except NotImplementedError as error:
            text = str(error)
        assert driver.orStreamEndCapture(stream, ctypes.byref(graph)) == 0
    driver.orGraphDestroy(graph)
    return text, healthy(state)


def test_capture_is_refused(two):
    text = "occl::all_reduce cannot be captured into a graph"
    assert two.run(capture) == [(text, [3.0, 3.0])] * 2


def blocked_stream(state):
    """The calling thread's stream waits for a Work, not the host."""
    x = tensor(2) * (dist.get_rank() + 1)
    openreg.synchronize()
    side = openreg.Stream()
    with openreg.simulator.hold():
        work = dist.all_reduce(x, async_op=True)
        with openreg.stream(side):
            work.block_current_stream()
            y = x * 2
    side.synchronize()
    return y.tolist()


def test_a_stream_waits_for_a_work(two):
    assert two.run(blocked_stream) == [[6.0, 6.0]] * 2


def two_devices(state):
    """Collectives of two devices in one group run in the order of the calls."""
    assert openreg.device_count() > 1
    rank, sums = dist.get_rank(), []
    for step, index in itertools.product(range(20), (0, 1)):
        x = torch.full((10,), rank + step, device=f"openreg:{index}")
        dist.all_reduce(x, async_op=True)
        sums.append(x)
    openreg.synchronize(0)
    openreg.synchronize(1)
    return [int(x[0]) for x in sums]


def test_one_process_uses_two_devices(two):
    expected = [2 * step + 1 for step in range(20) for _ in range(2)]
    assert two.run(two_devices) == [expected] * 2


RANK = """
    import datetime, sys, torch, torch.distributed as dist
    rank, file = int(sys.argv[1]), f"file://{sys.argv[2]}"
    seconds = datetime.timedelta(seconds=20)
    try:
        dist.init_process_group("occl", file, seconds, rank=rank, world_size=2)
        dist.all_reduce(torch.ones(2, device="openreg"))
        torch.openreg.synchronize()
    except RuntimeError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    sys.stdin.read()  # it is the error that ends the wait of the others
"""


def test_a_group_that_cannot_be_made_is_aborted(compile_cpp, tmp_path):
    failing = {"LD_PRELOAD": str(compile_cpp("fail_calls", backend=False))}
    failing["FAIL_SHARES"] = "1"
    ranks = []
    for rank in range(2):
        command = [sys.executable, "-c", textwrap.dedent(RANK), str(rank)]
        environment = (
            os.environ | {"GLOO_SOCKET_IFNAME": "lo"} | (failing if rank == 1 else {})
        )
        process = subprocess.Popen(
            [*command, str(tmp_path / "store")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        ranks.append(process)
    try:
        lines = [process.stdout.readline() for process in ranks]
    finally:
        for process in ranks:
            process.communicate()
    assert "rank 1" in lines[0]
    assert "timed out" not in lines[0]
    assert "DistBackendError" in lines[1]

# Ranks as threads: the GIL and the locks of a group; see docs/modules/distributed.md.
"""What waits for another rank must not keep what that rank needs.

That is the GIL, if the ranks are threads of one process, and the locks of a group, if
one of its threads waits and another one would go on.
"""

import itertools
import threading
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from gil_cases import CAPACITY
from thread_ranks import Thread, gloo_group, join, occl, on_all, tensor

# The end of a program that hangs: the stacks of all threads, which needs no GIL.
PROGRAM = """
import faulthandler, os, sys
faulthandler.dump_traceback_later(60, exit=True)
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
sys.path[:0] = {paths!r}
from pathlib import Path
import test_distributed_threads
test_distributed_threads.{name}(Path({path!r}))
faulthandler.cancel_dump_traceback_later()
print("done", flush=True)
os._exit(0)
"""


PATHS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]


@pytest.fixture
def run_here(run_forked, tmp_path):
    """Run a function of this file in a separate process."""

    def run(function, **env):
        program = PROGRAM.format(
            paths=PATHS, name=function.__name__, path=str(tmp_path)
        )
        process = run_forked(program, **env)
        assert process.stdout == "done\n", process.stderr

    return run


SHARED_MEMORY = pytest.mark.parametrize("disabled", ["0", "1"], ids=["shared", "gloo"])


# -- the GIL --


def three_ranks(folder):
    def work(rank):
        group = join(folder, rank, size=3)
        x, parts = tensor(rank + 1), [tensor(0) for _ in range(3)]
        works = [group.allreduce([x]), group.allgather([parts], [tensor(rank)])]
        group.barrier().wait()
        for each in works:
            each.wait()
        return x.tolist(), [part[0].item() for part in parts]

    results = on_all(*(partial(work, rank) for rank in range(3)))
    assert results == [([6.0, 6.0], [0.0, 1.0, 2.0])] * 3


@SHARED_MEMORY
def test_threads_are_the_ranks_of_a_group(run_here, disabled):
    run_here(three_ranks, OCCL_SHM_DISABLE=disabled)


def late_rank(folder):
    counted, entered = [0], threading.Event()

    def first_rank():
        gloo = gloo_group(folder, 0)
        entered.set()
        return occl(folder, gloo)

    def count():
        while counted[0] < 1_000_000:
            counted[0] += 1

    first = Thread(first_rank)
    gloo = gloo_group(folder, 1)
    entered.wait()
    Thread(count).result()
    assert first.is_alive()  # it waits for this thread
    second = occl(folder, gloo)
    assert [first.result().rank(), second.rank()] == [0, 1]


@SHARED_MEMORY
def test_other_threads_go_on_while_a_group_waits_for_a_rank(run_here, disabled):
    run_here(late_rank, OCCL_SHM_DISABLE=disabled)


def unfinished_gloo(folder):
    """A group of Gloo that is destroyed waits for what is under way in it."""
    on_this_rank = Thread(gloo_group, folder, 0)
    theirs = gloo_group(folder, 1)
    ours = on_this_rank.result()
    other = Thread(occl, folder, theirs)
    groups = [occl(folder, ours)]
    other = other.result()
    ours.allreduce([torch.ones(2)])
    del ours
    destroying = Thread(groups.clear)
    destroying.join(0.3)
    assert destroying.is_alive()
    x = torch.ones(2)
    theirs.allreduce([x]).wait()
    assert x.tolist() == [2.0, 2.0]
    destroying.result()
    other.abort()


def test_other_threads_go_on_while_a_group_is_destroyed(run_here):
    run_here(unfinished_gloo)


# -- the locks of a group --


def messages_during_a_barrier(folder):
    """Rank 1 comes to the barrier when it has got a message of rank 0."""

    def first():
        group = join(folder, 0)
        group.allreduce([tensor()]).wait()
        barrier = Thread(group.monitored_barrier)
        barrier.join(0.3)  # time to begin to wait
        group.send([tensor(7)], 1, 0).wait()
        barrier.result()

    def second():
        group, x = join(folder, 1), tensor(0)
        group.allreduce([tensor()]).wait()
        group.recv([x], 0, 0).wait()
        assert x.tolist() == [7.0, 7.0]
        group.monitored_barrier()

    on_all(first, second)


def test_messages_go_on_during_a_monitored_barrier(run_here):
    run_here(messages_during_a_barrier)


def abort_during_a_barrier(folder):
    """Rank 1 does not come, and another thread of rank 0 gives up."""
    other = Thread(join, folder, 1)
    group = join(folder, 0)
    other = other.result()
    barrier = Thread(group.monitored_barrier)
    barrier.join(0.3)
    group.abort()
    with pytest.raises(RuntimeError):
        barrier.result()
    other.abort()


def test_abort_ends_a_monitored_barrier(run_here):
    run_here(abort_during_a_barrier)


def calls_during_shutdown(folder):
    """While rank 0 waits for rank 1 in shutdown(), its calls are refused.

    The messages have one tag: each tag has a stream, and beyond 32 of them these two
    ranks of one process would wait for each other on a shared stream.
    """
    other = Thread(join, folder, 1)
    group, x = join(folder, 0), tensor()
    other = other.result()
    group.allreduce([x])
    ending = Thread(group.shutdown)
    messages = itertools.count()
    with pytest.raises(dist.DistBackendError, match="after the group was destroyed"):
        for number in messages:  # the thread may not have begun
            group.send([tensor(number)], 1, 0)
            ending.join(0.001)
    sent = next(messages) - 1
    assert ending.is_alive()
    assert group._get_sequence_number_for_group() == 1

    def come():
        other.allreduce([tensor(2)]).wait()
        for number in range(sent):
            message = tensor(0)
            other.recv([message], 0, 0).wait()
            assert message.tolist() == [number, number]

    Thread(come).result()
    ending.result()
    assert x.tolist() == [3.0, 3.0]


def test_calls_are_refused_while_shutdown_waits(run_here):
    run_here(calls_during_shutdown)


def full_stream(folder):
    """No rank receives what one thread sends with tag 0; tag 1 goes on meanwhile."""
    other = Thread(join, folder, 1)
    group = join(folder, 0)
    other, sent = other.result(), []
    numbers = [tensor(number) for number in range(CAPACITY + 1)]
    torch.openreg.synchronize()  # so each message is one task of its stream

    def send():
        for x in numbers:
            group.send([x], 1, 0)
            sent.append(x)

    def receive(tag):
        x = tensor(0)
        other.recv([x], 0, tag).wait()
        return x[0].item()

    sending = Thread(send)
    while len(sent) < CAPACITY:
        assert sending.is_alive()
    # The tensor is made on the thread, whose stream the message waits for.
    Thread(lambda: group.send([tensor(-1)], 1, 1)).result()
    assert Thread(receive, 1).result() == -1
    assert Thread(group.allreduce, [tensor()]).result() is not None
    assert Thread(other.allreduce, [tensor()]).result() is not None
    assert sending.is_alive()
    received = Thread(lambda: [receive(0) for _ in range(CAPACITY + 1)])
    assert received.result() == list(range(CAPACITY + 1))
    sending.result()


def test_a_full_stream_holds_up_its_own_messages_only(run_here):
    run_here(full_stream)

# Which process keeps shared memory alive; see docs/frontend/ipc.md.
"""Processes are killed for real: SIGKILL, so that no code cleans up."""

import gc
import subprocess
import sys
import textwrap
import threading
import time
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
import torch
import torch.multiprocessing
from patience import PATIENCE
from peer import Peer, PeerError

openreg = torch.openreg
MIB = 1 << 20


@pytest.fixture
def peer():
    other = Peer()
    yield other
    other.close()
    openreg.ipc_collect()


@pytest.fixture(autouse=True)
def _nothing_is_sent():
    gc.collect()
    openreg.ipc_collect()


# -- what the peer does --


def keep(state, name, x):
    state[name] = x


def drop(state, name):
    del state[name]


def total(state, name):
    return state[name].sum().item()


def make(state, value):
    state["own"] = torch.full((1000,), value, device="openreg")
    return state["own"]


def messages(state, count):
    return [bytes(ForkingPickler.dumps(make(state, i))) for i in range(count)]


def drop_behind_a_kernel(state, name):
    """The only reference goes while a kernel that uses it still waits for its turn."""
    x = state.pop(name)
    openreg._sleep(1_000_000_000)
    x.add_(1)


def reserved():
    return openreg.memory_allocated(0)


# -- while all live --


def test_the_block_stays_until_the_receiver_lets_go(peer):
    before = reserved()
    x = torch.ones(MIB, device="openreg")
    address = x.data_ptr()
    peer.ask(keep, "x", x)
    del x
    openreg.ipc_collect()
    assert reserved() == before + 4 * MIB
    other = torch.zeros(MIB, device="openreg")
    assert other.data_ptr() != address
    assert peer.ask(total, "x") == MIB
    del other
    peer.ask(drop, "x")
    openreg.ipc_collect()
    assert reserved() == before
    assert torch.zeros(MIB, device="openreg").data_ptr() == address


def test_the_block_stays_while_the_sender_uses_it(peer):
    x = torch.ones(MIB, device="openreg")
    peer.ask(keep, "x", x)
    peer.ask(drop, "x")
    openreg.ipc_collect()
    y = torch.zeros(MIB, device="openreg")
    assert x.sum().item() == MIB
    assert y.data_ptr() != x.data_ptr()


def test_the_next_message_collects_as_well(peer):
    before = reserved()
    for i in range(5):
        peer.ask(keep, "x", torch.full((MIB,), float(i), device="openreg"))
    assert reserved() == before + 2 * 4 * MIB  # the last, and the one before
    assert peer.ask(total, "x") == 4 * MIB


def test_every_receiver_counts(peer):
    second = Peer()
    try:
        before = reserved()
        x = torch.ones(1000, device="openreg")
        for other in (peer, second):
            other.ask(keep, "x", x)
        del x
        peer.ask(drop, "x")
        openreg.ipc_collect()
        assert reserved() > before
        assert second.ask(total, "x") == 1000
        second.ask(drop, "x")
        openreg.ipc_collect()
        assert reserved() == before
    finally:
        second.close()


def test_memory_that_nobody_received_yet_stays():
    before = reserved()
    message = ForkingPickler.dumps(torch.ones(1000, device="openreg"))
    openreg.ipc_collect()
    assert reserved() > before
    assert ForkingPickler.loads(message).sum().item() == 1000
    openreg.ipc_collect()
    assert reserved() == before


def test_a_full_device_takes_back_what_was_let_go(peer):
    x = torch.ones(64 * MIB, dtype=torch.uint8, device="openreg")
    peer.ask(keep, "x", x)
    del x
    openreg.empty_cache()
    _, all_bytes = openreg.mem_get_info()
    openreg.set_per_process_memory_fraction(100 * MIB / all_bytes)
    try:
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(64 * MIB, dtype=torch.uint8, device="openreg")
        peer.ask(drop, "x")
        torch.empty(64 * MIB, dtype=torch.uint8, device="openreg")
    finally:
        openreg.set_per_process_memory_fraction(1.0)


def test_the_receiver_waits_for_its_kernels_before_it_lets_go(peer):
    before = reserved()
    x = torch.zeros(1000, device="openreg")
    address = x.data_ptr()
    peer.ask(keep, "x", x)
    del x
    peer.start(drop_behind_a_kernel, "x")
    end = time.monotonic() + 100
    while reserved() > before and time.monotonic() < end:
        openreg.ipc_collect()
    y = torch.full((1000,), 5.0, device="openreg")
    assert y.data_ptr() == address  # it is free again, and has no other writer
    openreg.synchronize()
    peer.answer()
    assert y.tolist() == [5] * 1000


def test_sending_and_freeing_on_many_threads():
    def work():
        for i in range(40):
            x = torch.full((100,), i, device="openreg")
            assert ForkingPickler.loads(ForkingPickler.dumps(x))[0].item() == i
            openreg.ipc_collect()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


# -- one is killed --


def test_memory_comes_back_when_the_receiver_is_killed(peer):
    before = reserved()
    x = torch.ones(1000, device="openreg")
    peer.ask(keep, "x", x)
    del x
    openreg.ipc_collect()
    assert reserved() > before
    peer.kill()
    openreg.ipc_collect()
    assert reserved() == before


def test_received_memory_outlives_the_sender(peer):
    x = peer.ask(make, 3)
    view = x[10:20]
    peer.kill()
    assert x.sum().item() == 3000
    x.add_(1)
    assert view.tolist() == [4] * 10
    del x, view
    assert openreg.mem_get_info()  # and it can be let go


def test_what_a_dead_sender_sent_is_refused(peer):
    (message,) = peer.ask(messages, 1)
    peer.kill()
    with pytest.raises(
        RuntimeError, match=f"process {peer.process.pid}, which .*ended"
    ):
        ForkingPickler.loads(message)


def test_a_segment_that_is_open_serves_also_later_messages(peer):
    first, second = peer.ask(messages, 2)
    x = ForkingPickler.loads(first)
    peer.kill()
    y = ForkingPickler.loads(second)
    assert (x.sum().item(), y.sum().item()) == (0, 1000)


def test_a_receiver_that_was_killed_does_not_disturb_the_others(peer):
    second = Peer()
    x = torch.ones(1000, device="openreg")
    peer.ask(keep, "x", x)
    second.ask(keep, "x", x)
    second.kill()
    del x
    openreg.ipc_collect()
    torch.zeros(1000, device="openreg")
    assert peer.ask(total, "x") == 1000


# -- fork --

FORK = """
    import torch, torch.multiprocessing
    from multiprocessing.reduction import ForkingPickler

    def child(message, x, line):
        for call in (lambda: ForkingPickler.loads(message),
                     lambda: ForkingPickler.dumps(x), torch.openreg.ipc_collect):
            try:
                line.send(call())
            except RuntimeError as error:
                line.send(str(error))

    context = torch.multiprocessing.get_context("fork")
    here, there = context.Pipe()
    x = torch.ones(3, device="openreg")
    message = bytes(ForkingPickler.dumps(x))
    process = context.Process(target=child, args=(message, x, there))
    process.start()
    for _ in range(3):
        assert here.poll(60)
        print(here.recv())
    process.join(60)
    print(process.exitcode, x.tolist())
"""


def test_a_child_forked_after_use_is_told(run_forked):
    result = run_forked(FORK)
    *errors, last = result.stdout.splitlines()
    assert last == "0 [1.0, 1.0, 1.0]", result.stderr
    assert len(errors) == 3
    for error in errors:
        assert error.startswith("Cannot re-initialize openreg in forked subprocess.")


FORK_BEFORE = """
    import torch, torch.multiprocessing

    def child(queue, done):
        queue.put(torch.full((3,), 2.0, device="openreg"))
        done.wait(60)

    context = torch.multiprocessing.get_context("fork")
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=child, args=(queue, done))
    process.start()
    x = queue.get(timeout=60)
    done.set()
    process.join(60)
    print(process.exitcode, x.tolist())
"""


def test_a_child_forked_before_use_sends(run_forked):
    result = run_forked(FORK_BEFORE)
    assert result.stdout == "0 [2.0, 2.0, 2.0]\n", result.stderr


FORKED_RECEIVER = """
    import os, sys, torch
    sys.path[:0] = {paths!r}
    from peer import Peer
    from test_multiprocessing_life import make

    if __name__ == "__main__":
        peer = Peer()
        x = peer.ask(make, 2.0)
        child = os.fork()
        if child == 0:
            del x  # it belongs to the parent
            os._exit(3)
        print(os.waitpid(child, 0)[1] >> 8, x.sum().item())
        peer.close()
"""


def test_a_forked_child_leaves_received_memory_alone(tmp_path):
    program = tmp_path / "program.py"
    folder = Path(__file__).parent
    paths = [str(folder), str(folder.parent / "support")]
    program.write_text(textwrap.dedent(FORKED_RECEIVER).format(paths=paths))
    command = [sys.executable, str(program)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert result.stdout == "3 2000.0\n", result.stderr


def test_importing_torch_starts_nothing(run_forked):
    result = run_forked("""
        import torch, torch_openreg.openreg.reductions
        from multiprocessing.reduction import ForkingPickler
        ForkingPickler.loads(ForkingPickler.dumps(torch.ones(3)))
        print(torch.openreg.is_initialized())
    """)
    assert result.stdout == "False\n", result.stderr


def test_a_process_with_fewer_devices_refuses(run_forked):
    x = torch.ones(3, device="openreg:1")
    message = bytes(ForkingPickler.dumps(x))
    result = run_forked(
        f"""
        from multiprocessing.reduction import ForkingPickler
        try:
            ForkingPickler.loads({message!r})
        except RuntimeError as error:
            print(error)
        """,
        OPENREG_DEVICE_COUNT="1",
    )
    assert "there is no device 1" in result.stdout, result.stderr


def test_errors_reach_the_one_who_asked(peer):
    with pytest.raises(PeerError, match="KeyError: 'nothing'"):
        peer.ask(total, "nothing")

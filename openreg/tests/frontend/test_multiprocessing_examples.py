# The programs of the page run as they stand there; docs/frontend/multiprocessing.md.
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

PROGRAMS = Path(__file__).parents[1] / "examples/processes"
WHOLE = [("handover", "0., 2., 4., 6."), ("hogwild", "[1.0, -2.0, 3.0, 0.5]")]


@contextlib.contextmanager
def started(name, *arguments):
    """Start a program; it and its children are killed in the end."""
    process = subprocess.Popen(
        [sys.executable, PROGRAMS / f"{name}.py", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def run(name, *arguments):
    """Return what a program prints."""
    with started(name, *arguments) as process:
        return process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize(("name", "printed"), WHOLE)
def test_programs_print_what_they_should(name, printed):
    out, err = run(name)
    assert printed in out, err


def test_pools_of_every_safe_start_method():
    out, err = run("start_methods", "spawn", "forkserver")
    assert out.splitlines() == [
        "spawn -1.0 -5.0 [-0.0, -1.0, -2.0, -3.0]",
        "forkserver 1.0 5.0 [0.0, 1.0, 2.0, 3.0]",
    ], err


def test_pools_of_forked_processes_are_told():
    told = "Cannot re-initialize openreg in forked subprocess."
    with started("start_methods", "fork") as process:  # the pool goes on waiting
        assert any(told in line for line in process.stderr)


def test_a_sender_that_ends_too_early_is_named():
    _, err = run("too_early")
    assert "which sent this tensor, has ended before it was received" in err

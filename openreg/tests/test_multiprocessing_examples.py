# The programs of the page run as they stand there; docs/frontend/multiprocessing.md.
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "examples/processes"
WHOLE = [("handover", "0., 2., 4., 6."), ("hogwild", "[1.0, -2.0, 3.0, 0.5]")]


def run(name, *arguments):
    """Return what a program prints; it and its children are killed if they hang."""
    process = subprocess.Popen(
        [sys.executable, PROGRAMS / f"{name}.py", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=200)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


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
    _, err = run("start_methods", "fork")
    assert "Cannot re-initialize openreg in forked subprocess." in err


def test_a_sender_that_ends_too_early_is_named():
    _, err = run("too_early")
    assert "which sent this tensor, has ended before it was received" in err

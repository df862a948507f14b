# What waits for the device lets other Python threads run; see docs/runtime/stream.md.
"""A thread that keeps the GIL while it waits may wait for a thread that needs it.

The device may also wait for such a thread: for one that is another rank of a process
group, or that lets go of a stream.
"""

import pytest
import torch_openreg
from gil_cases import (
    ELSEWHERE,
    MEMORY,
    OF_TORCH,
    OF_TORCH_WITH_GIL,
    RETURNS,
    WAITS,
)
from torch_release import has_changed

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import gil_cases
gil_cases.run({name!r}, {seconds})
"""


@pytest.fixture
def run_case(run_forked, request):
    def run(name, seconds=60):
        folder = str(request.path.parents[1] / "support")
        program = PROGRAM.format(folder=folder, name=name, seconds=seconds)
        return run_forked(program, OPENREG_DEVICE_MEMORY=MEMORY)

    return run


def test_the_table_has_each_binding():
    bindings = {name for name in dir(torch_openreg._C) if not name.startswith("__")}
    assert bindings == {*WAITS, *RETURNS, *ELSEWHERE}


@pytest.mark.parametrize("name", [*WAITS, *OF_TORCH])
def test_a_call_that_waits_lets_other_threads_run(name, run_case):
    process = run_case(name)
    assert process.stdout == "waits\n", process.stderr


@pytest.mark.parametrize("name", RETURNS)
def test_a_call_that_keeps_the_gil_does_not_wait(name, run_case):
    process = run_case(name)
    assert process.stdout == "returns\n", process.stderr


@pytest.mark.parametrize("name", OF_TORCH_WITH_GIL)
def test_gap_calls_of_torch_that_keep_the_gil(name, run_case):
    """Pins a limit of torch 2.13: the program stands still, which it should not."""
    process = run_case(name, seconds=2)
    if name == "x[0] = 3.0" and has_changed("setting an element releases the GIL"):
        assert process.stdout == "waits\n"
        return
    assert process.stdout == ""
    assert "in <lambda>" in process.stderr  # the call has begun
    assert process.returncode == 1

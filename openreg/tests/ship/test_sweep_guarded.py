# No kernel or trial reads outside of the memory of a CPU tensor; see
# docs/operators/borrowed-kernels.md.
"""A trial calls ATen with small tensors: a function that takes other numbers for the
sizes reads behind them, and crashes only by chance."""

from pathlib import Path

import pytest
import torch
from custom_build import compile_with_c10
from sweep import runner
from sweep.cases import all_cases
from sweep.known import problems
from sweep.table import table

WAYS = ("forward", "backward")
EVERY = 4  # of the operators; all of them take a minute
ALWAYS = {"nn.functional.ctc_loss"}  # its lengths are numbers


@pytest.fixture
def _guarded(monkeypatch):
    preloaded = str(compile_with_c10("guard_host_memory"))
    folder = str(Path(torch.__file__).parent / "lib")
    monkeypatch.setitem(runner.SETTINGS, "LD_PRELOAD", preloaded)
    monkeypatch.setitem(runner.SETTINGS, "LD_LIBRARY_PATH", folder)


@pytest.mark.usefixtures("_guarded")
def test_no_operator_leaves_the_memory_of_its_tensors():
    chosen = []
    for way in WAYS:
        cases = [case for case in all_cases() if case[1:] == ("float32", way)]
        some = {case.operator for case in cases[::EVERY]} | ALWAYS
        cases = [case for case in cases if case.operator in some]
        assert len(cases) > 100
        chosen += cases
    verdicts = runner.run_all(chosen, runner.QUICK)
    assert not problems(verdicts), table(verdicts)


@pytest.mark.usefixtures("_guarded")
def test_a_read_behind_a_tensor_crashes(run_python):
    program = """
        import ctypes
        import torch
        memory = torch.ones(1024, dtype=torch.uint8)
        byte = ctypes.c_uint8.from_address(memory.data_ptr() + 1023)
        print(byte.value, flush=True)
        ctypes.c_uint8.from_address(memory.data_ptr() + 1024).value
    """
    process = run_python(program, **runner.SETTINGS)
    assert process.stdout == "1\n" and process.returncode < 0

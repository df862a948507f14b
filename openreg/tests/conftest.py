# What all tests of the backend share; see docs/start/quickstart.md.
import subprocess
import sys
import textwrap

import pytest
import torch


@pytest.fixture(autouse=True)
def _clean_device():
    """Every test starts on device 0 and leaves no fault and no work behind."""
    torch.openreg.set_device(0)
    yield
    for index in range(torch.openreg.device_count()):
        torch.openreg.synchronize(index)
    torch.openreg.set_device(0)


@pytest.fixture
def run_python():
    """Run a program in a new interpreter; return the finished process."""

    def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
        import os

        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=120,
            # Some programs hold a kernel back until a later line of theirs.
            env={
                **os.environ,
                "PYTHONFAULTHANDLER": "1",
                "OPENREG_LAUNCH_BLOCKING": "0",
                **env,
            },
        )

    return run

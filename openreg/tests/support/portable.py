# Runs the tests that need no name of ours on some backend; see docs/start/ladder.md.
"""In a separate process, because this one may have a backend already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PORTABLE = "operators/test_minimal.py"


def run_portable(env: dict[str, str], device: str, stage: int) -> str:
    """Run them on an installed backend; return what pytest printed.

    Args:
        env: the environment in which ``import torch`` finds the backend.
    """
    names = {"TEST_DEVICE": device, "TEST_STAGE": str(stage)}
    return run_tests([TESTS / PORTABLE], {**env, **names})


def run_tests(arguments: list[str | Path], env: dict[str, str]) -> str:
    """Run pytest; raise AssertionError with what it printed if a test fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += map(str, arguments)
    process = subprocess.run(command, capture_output=True, text=True, env=env)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout

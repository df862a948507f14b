# What several pages use in their examples; see docs/start/install.md.
"""Run a program in a separate process, or show the error of a call."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any


# LITERALINCLUDE START: EXAMPLE_HELPERS
def run(program: str, **settings: str) -> int | None:
    """Run a program in a new process, and print what it prints.

    Args:
        program: Python code.
        settings: environment variables of the process.

    Returns:
        The status of the process, if it is not 0: -11 after a segmentation fault.
    """
    process = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(process.stdout, end="")
    return process.returncode or None


def error_of(call: Callable[..., Any], *arguments: Any) -> None:
    """Print the error of a call, wrapped to the width of a page."""
    try:
        call(*arguments)
    except Exception as error:
        print(textwrap.fill(f"{type(error).__name__}: {error}", 86))
    # LITERALINCLUDE END: EXAMPLE_HELPERS


# LITERALINCLUDE START: EXAMPLE_STEPS
def steps(call: Callable[[], Any]) -> list[str]:
    """Return the names of the operators that a call runs, in order."""
    import torch  # not above: some pages show how torch is imported

    with torch.autograd.profiler.profile() as profile:
        call()
    return [event.name.removeprefix("aten::") for event in profile.function_events]
    # LITERALINCLUDE END: EXAMPLE_STEPS

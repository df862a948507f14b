# Runs the cases with Triton's interpreter; see docs/modules/triton-compiler.md.
"""``TRITON_INTERPRET=1 python oracle.py FILE`` writes the tensors of each case."""

import sys

import block_cases
import program_cases
import torch
from cases import CASES

MODULES = (block_cases, program_cases)  # they add their cases


def results() -> dict[str, list[torch.Tensor] | str]:
    """Return what each case computes on the CPU, or the interpreter's error."""
    found: dict[str, list[torch.Tensor] | str] = {}
    for name, run in CASES.items():
        try:
            found[name] = run("cpu")
        except Exception as error:  # what the interpreter lacks
            found[name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    torch.save(results(), sys.argv[1])

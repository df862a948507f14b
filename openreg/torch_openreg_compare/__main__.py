# Runs the comparison as a command; see docs/ship/parity.md.
"""``python -m torch_openreg_compare [--device NAME] model.py``."""

import argparse
import runpy
import sys
from pathlib import Path

import torch

from torch_openreg_compare import compare

FUNCTION = "build"


def main(arguments: list[str] | None = None) -> int:
    """Print the report; return 1 if an operator or the result differs."""
    parser = argparse.ArgumentParser(
        prog="python -m torch_openreg_compare",
        description="Find the first operator of a model that differs from the CPU.",
    )
    parser.add_argument(
        "model", type=Path, help=f"a file with a function {FUNCTION}() -> model, inputs"
    )
    parser.add_argument("--device", help="default: the current accelerator")
    parser.add_argument("--rtol", type=float, help="default: as torch.testing")
    parser.add_argument("--atol", type=float, help="default: as torch.testing")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--feed", action="store_true",
                        help="run every operator with the CPU's inputs")  # fmt: skip
    parser.add_argument("--no-backward", action="store_true",
                        help="compare only the forward pass")  # fmt: skip
    parser.add_argument("--save", type=Path, metavar="FILE",
                        help="save the inputs of this operator")  # fmt: skip
    options = parser.parse_args(arguments)
    if (options.rtol is None) != (options.atol is None):
        parser.error("pass both --rtol and --atol, or neither")
    device = options.device or torch.accelerator.current_accelerator()
    if device is None:
        parser.error("torch has no accelerator: pass a device with --device")
    build = runpy.run_path(str(options.model)).get(FUNCTION)
    if build is None:
        parser.error(f"{options.model} has no function {FUNCTION}(): define it")
    torch.manual_seed(options.seed)
    model, inputs = build()
    report = compare(
        model,
        inputs,
        device,
        backward=not options.no_backward,
        feed=options.feed,
        rtol=options.rtol,
        atol=options.atol,
        seed=options.seed,
    )
    print(report.show(save=options.save))
    return 1 if report.findings or report.result else 0


if __name__ == "__main__":
    sys.exit(main())

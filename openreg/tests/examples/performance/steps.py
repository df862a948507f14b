# One computation, with a wait and a fallback or without; see docs/ship/performance.md.
"""python steps.py TRACE slow | quick: profiles three steps and writes their trace."""

import sys

import torch
from torch import Tensor
from torch.profiler import profile


# LITERALINCLUDE START: SLOW_STEP
def slow(x: Tensor, weight: Tensor) -> Tensor:
    y = x @ weight
    scale = y.abs().max().item()
    return torch.hypot(y / scale, x)


# LITERALINCLUDE END: SLOW_STEP
# LITERALINCLUDE START: QUICK_STEP
def quick(x: Tensor, weight: Tensor) -> Tensor:
    y = x @ weight
    scale = y.abs().max()  # (1)
    y = y / scale
    return (y * y + x * x).sqrt()  # (2)


# LITERALINCLUDE END: QUICK_STEP
def operands() -> tuple[Tensor, Tensor]:
    """Return what a step takes, on the device."""
    return torch.rand(512, 512).to("openreg"), torch.rand(512, 512).to("openreg")


def main(path: str, name: str) -> None:
    """Profile three steps after a first one, which takes longer."""
    step = {"slow": slow, "quick": quick}[name]
    x, weight = operands()
    step(x, weight)
    torch.openreg.synchronize()
    with profile() as prof:
        for _ in range(3):
            step(x, weight)
    prof.export_chrome_trace(path)


if __name__ == "__main__":
    main(*sys.argv[1:])

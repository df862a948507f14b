# What the tests of graph-only devices share; see docs/modules/graph-only.md.
import sys
from pathlib import Path

import torch

EXAMPLES = str(Path(__file__).parents[1] / "examples")
if EXAMPLES not in sys.path:
    sys.path.append(EXAMPLES)  # for the package graph_only


def on_device(*shape: int) -> torch.Tensor:
    """Numbers from 0, on the device."""
    return torch.arange(float(torch.Size(shape).numel())).view(shape).to("openreg")

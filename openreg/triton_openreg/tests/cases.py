# Kernels that use each part of the language; see docs/modules/triton-compiler.md.
"""Each case runs kernels on a device and returns tensors.

The tests compare them with what Triton's interpreter computes on the CPU.
"""

from collections.abc import Callable

import torch

Case = Callable[[str], list[torch.Tensor]]
CASES: dict[str, Case] = {}
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = (*FLOATS, "int8", "int16", "int32", "int64", "uint8")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def case(*variants: str) -> Callable[[Callable[..., list[torch.Tensor]]], Case]:
    """Add a case, or one for each variant."""

    def register(function: Callable[..., list[torch.Tensor]]) -> Case:
        name = function.__name__
        if not variants:
            CASES[name] = function
        for variant in variants:
            CASES[f"{name}-{variant}"] = lambda device, v=variant: function(device, v)
        return function

    return register


def numbers(dtype: str, *shape: int, seed: int = 0, low: int = -50) -> torch.Tensor:
    """Return the same numbers on each call."""
    generator = torch.Generator().manual_seed(seed)
    kind = getattr(torch, dtype)
    if kind.is_floating_point:
        return torch.randn(shape, generator=generator).to(kind)
    low = 0 if dtype[0] == "u" else low
    return torch.randint(low, 50, shape, generator=generator).to(kind)

"""What the tests of indices, random numbers and attention share besides support.py."""

import contextlib

import support
import torch
from support import FLOATING, INTEGRAL

MOVED = *FLOATING, *INTEGRAL, torch.bool, torch.complex64, torch.complex128


@contextlib.contextmanager
def natively():
    """Fails if an operator inside fell back to the CPU."""
    torch.ocl.reset_fallback_counts()
    yield
    counts = torch.ocl.fallback_counts()
    assert not counts, counts


def numbers(*sizes, dtype=torch.float32, seed=0):
    """Random numbers on the CPU with few digits: sums are exact in most dtypes."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(-9, 10, sizes, generator=generator)
    if dtype == torch.bool:
        return values > 0
    if dtype == torch.uint8:
        values = values.abs()
    return values.to(dtype) / 4 if dtype.is_floating_point else values.to(dtype)


def compare(call, *args, tolerance=None):
    return support.compare(call, *args, rtol=tolerance, atol=tolerance)

# Dtypes that CUDA has and the CPU lacks; see docs/reference/operator-coverage.md.
"""Libraries take CUDA's path on every device that is not the CPU, so they may meet
these."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch.testing import assert_close
from torch.utils._pytree import tree_map

from .cases import OPERATORS, _seeded
from .exceptions import ARBITRARY_VALUES
from .mirror import mirror, parts, tensors
from .ways import call

DEVICE = "openreg:0"
SAMPLES = 4

# In which dtype the CPU computes what is expected.
WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
    torch.complex64: torch.complex128,
    torch.complex128: torch.complex128,
    torch.bool: torch.uint8,
}

HALF_COMPLEX = "numbers of two float16: no model was seen to use them"
CUDA_OWN = "an operator of CUDA's own attention"
NOT_SERVED = {
    "fft": "the kernel library has no float16 transform",
    "stft": "the kernel library has no transform of two bytes",  # since torch 2.14
    "scatter": "moves of float8: no model was seen to use them",  # since torch 2.15
    "sparse.sampled_addmm": "the kernel of the CPU takes four bytes or more",
    "torch.ops.aten._flash_attention_forward": CUDA_OWN,
    "torch.ops.aten._efficient_attention_forward": CUDA_OWN,
}


def pairs() -> Iterator[tuple[str, torch.dtype]]:
    """Each operator with each dtype that its forward has on CUDA only."""
    for name, op in OPERATORS.items():
        for dtype in sorted(set(op.dtypesIfCUDA) - set(op.dtypes), key=str):
            yield name, dtype


def why_not(name: str, dtype: torch.dtype) -> str | None:
    """Return why a pair need not be served; None if it must."""
    if dtype == torch.complex32:
        return HALF_COMPLEX
    family = name.split(".")[0]
    return NOT_SERVED.get(name, NOT_SERVED.get(family))


def reason(name: str, dtype: torch.dtype) -> str | None:
    """Try a pair; return why it is not served, or None if it is."""
    try:
        check(name, dtype)
    except (RuntimeError, NotImplementedError) as error:
        return why_not(name, dtype) or str(error).splitlines()[0]
    return None


def check(name: str, dtype: torch.dtype) -> None:
    """Run samples on the device, and compare them with the CPU in a wider dtype."""
    op = OPERATORS[name]
    wide = WIDER.get(dtype, torch.float64)
    made = _seeded(op.sample_inputs_func(op, "cpu", dtype, False))

    def widen(value: Any) -> Any:
        is_narrow = isinstance(value, torch.Tensor) and value.dtype == dtype
        return value.to(wide) if is_narrow else value

    for sample in islice(made, SAMPLES):
        actual = call(op, mirror(sample, DEVICE))
        wider = mirror(sample, "cpu")
        wider.input, wider.args, wider.kwargs = tree_map(widen, parts(wider))
        try:
            expected = call(op, wider)
        except RuntimeError:  # the CPU has it in no dtype
            continue
        for one, other in zip(tensors(actual), tensors(expected), strict=True):
            assert one.device == torch.device(DEVICE)
            if name not in ARBITRARY_VALUES:
                rounded = other.to(one.dtype).to(other.dtype)
                tolerance = {"rtol": 5e-2, "atol": 5e-2, "equal_nan": True}
                assert_close(one.cpu().to(other.dtype), rounded, **tolerance)

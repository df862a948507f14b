# The parts of the language, against Triton's interpreter; see
# docs/modules/triton-compiler.md.
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cases import CASES, TYPES, numbers
from oracle import MODULES
from patience import PATIENCE
from torch.testing import assert_close

TESTS = Path(__file__).parent
assert MODULES  # whose import makes the cases


@pytest.fixture(scope="session")
def interpreted(tmp_path_factory):
    """What the interpreter computes on the CPU: all cases, in a separate process.

    Triton decides when it is imported whether it interprets.
    """
    file = tmp_path_factory.mktemp("oracle") / "results.pt"
    subprocess.run(
        [sys.executable, str(TESTS / "oracle.py"), str(file)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return torch.load(file)


# -- what the interpreter lacks, or computes with the bits of 16-bit numbers --


def arithmetic_of_bfloat16():
    x, y = (numbers("bfloat16", 128, seed=s) for s in (0, 1))
    rows = [x + y, x - y, x * y, torch.maximum(x, y), torch.minimum(x, y)]
    rows += [x.abs(), -x, (x <= y).to(x.dtype)]
    out = torch.stack(rows)
    out[:, 100:] = 0
    return out


def dot_of_bfloat16():
    x, y = (numbers("bfloat16", 16, 16, seed=s, low=-20) for s in (0, 1))
    return x.float() @ y.float() + 1


def division_of_unsigned(dtype):
    x = numbers(dtype, 128, low=0).long()
    y = numbers("int64", 128, seed=1, low=0) % 13 + 1
    rows = [
        x // y,
        x % y,
        x << (y & 3),
        x >> (y & 3),
        (x & y) | (x ^ 5),
        ~x,
        (x + 6) // 7,
    ]
    return torch.stack(rows).to(getattr(torch, dtype))


def atomics_of_floats(dtype):
    x = numbers(dtype, 64)
    index = numbers("int32", 64, low=0) % 8
    out = torch.zeros(4, 8, dtype=x.dtype)
    for _ in range(2):
        out[0].index_add_(0, index[:61], x[:61])
    for place, value in zip(index.tolist(), x, strict=True):
        out[2, place] = torch.minimum(out[2, place], value)
    for place, value in zip(index[:61].tolist(), x, strict=False):
        out[1, place] = torch.maximum(out[1, place], value)
    out[3] = x[:8]
    return out


def mapped(dtype):
    x, y = (numbers(dtype, 32, seed=s) for s in (0, 1))
    first, second = torch.where(x > y, x, y * 3), torch.where(x > y, y * 2, x)
    return torch.stack([first, second, first.view(-1, 2).flip(1).flatten()])


OWN = {
    "arithmetic-bfloat16": arithmetic_of_bfloat16,
    "dot-bfloat16": dot_of_bfloat16,
    "mapped-float32": lambda: mapped("float32"),
    "mapped-int32": lambda: mapped("int32"),
    "atomics-float32": lambda: atomics_of_floats("float32"),
    "atomics-float64": lambda: atomics_of_floats("float64"),
    "division-uint8": lambda: division_of_unsigned("uint8"),
    "division-uint32": lambda: division_of_unsigned("uint32"),
}


@pytest.mark.filterwarnings("ignore:tl.cat:UserWarning")  # of Triton 3.9
@pytest.mark.parametrize("name", sorted(set(CASES) - set(OWN)))
def test_as_the_interpreter(name, interpreted):
    expected = interpreted[name]
    assert not isinstance(expected, str), expected
    actual = [tensor.cpu() for tensor in CASES[name]("openreg")]
    if name.startswith("cast"):  # the interpreter writes other bits as bfloat16
        expected[TYPES.index("bfloat16")] = expected[TYPES.index("float64")].bfloat16()
    # The interpreter adds halves in another order.
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if "float16" in name else {}
    assert_close(actual, expected, equal_nan=True, **tolerance)


@pytest.mark.parametrize("name", sorted(OWN))
def test_as_torch(name):
    (actual,) = CASES[name]("openreg")
    assert_close(actual.cpu(), OWN[name](), atol=1e-4, rtol=1e-4)

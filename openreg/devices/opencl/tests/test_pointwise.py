"""Operators that compute each element by itself: the device's values are the CPU's."""

import pytest
import torch
from support import ALL, DEVICE, FLOATING, INTEGRAL, compare, native, sample
from torch.nn import functional

# The interval in which a function is defined.
UNARY = {
    torch.abs: (-3, 3),
    torch.neg: (-3, 3),
    torch.exp: (-3, 3),
    torch.exp2: (-3, 3),
    torch.expm1: (-3, 3),
    torch.log: (0.1, 3),
    torch.log1p: (-0.9, 3),
    torch.log2: (0.1, 3),
    torch.log10: (0.1, 3),
    torch.sqrt: (0, 3),
    torch.rsqrt: (0.1, 3),
    torch.reciprocal: (0.1, 3),
    torch.sin: (-9, 9),
    torch.cos: (-9, 9),
    torch.tan: (-1, 1),
    torch.asin: (-1, 1),
    torch.acos: (-1, 1),
    torch.atan: (-3, 3),
    torch.sinh: (-3, 3),
    torch.cosh: (-3, 3),
    torch.tanh: (-3, 3),
    torch.asinh: (-3, 3),
    torch.acosh: (1, 4),
    torch.atanh: (-0.9, 0.9),
    torch.erf: (-2, 2),
    torch.erfc: (-2, 2),
    torch.erfinv: (-0.99, 0.99),
    torch.sigmoid: (-5, 5),
    torch.sign: (-3, 3),
    torch.sgn: (-3, 3),
    torch.ceil: (-3, 3),
    torch.floor: (-3, 3),
    torch.round: (-3, 3),
    torch.trunc: (-3, 3),
    torch.frac: (-3, 3),
    torch.signbit: (-3, 3),
    torch.isnan: (-3, 3),
    torch.isposinf: (-3, 3),
    torch.isneginf: (-3, 3),
    torch.logical_not: (-3, 3),
    torch.nan_to_num: (-3, 3),
    torch.relu: (-3, 3),
    torch.square: (-3, 3),
    torch.isfinite: (-3, 3),
    torch.logit: (0.1, 0.9),
    functional.gelu: (-3, 3),
    functional.silu: (-3, 3),
    functional.mish: (-3, 3),
    functional.hardtanh: (-3, 3),
    functional.hardswish: (-5, 5),
    functional.hardsigmoid: (-5, 5),
    functional.leaky_relu: (-3, 3),
    functional.elu: (-3, 3),
    functional.selu: (-3, 3),
    functional.celu: (-3, 3),
    functional.softplus: (-25, 25),
    functional.hardshrink: (-3, 3),
    functional.softshrink: (-3, 3),
    functional.logsigmoid: (-3, 3),
    functional.relu6: (-3, 9),
    functional.tanhshrink: (-3, 3),
    functional.softsign: (-3, 3),
}

SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 0.5, 2.5]


@pytest.mark.parametrize("fn", UNARY, ids=lambda fn: fn.__name__)
def test_functions_of_one_tensor(fn):
    numbers = sample((7, 11), torch.float32, *UNARY[fn]).flatten()
    compare(fn, torch.cat([numbers, torch.tensor(SPECIAL)]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("fn", [torch.exp, torch.tanh, functional.gelu, torch.erfinv])
def test_floating_point_dtypes(fn, dtype):
    compare(fn, sample((7, 11), dtype, -0.9, 0.9))


@pytest.mark.parametrize("dtype", [*INTEGRAL, torch.bool])
def test_integers_become_floating_point(dtype):
    compare(torch.sin, sample((7, 11), dtype))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8])
@pytest.mark.parametrize(
    "fn", [torch.abs, torch.neg, torch.sign, torch.floor, torch.bitwise_not, torch.relu]
)
def test_functions_of_integers(fn, dtype):
    compare(fn, sample((7, 11), dtype), exact=True)


def test_functions_of_bool():
    x = sample((7, 11), torch.bool)
    compare(lambda x: (~x, x.logical_not(), x.sign(), x.signbit()), x)


BINARY = {
    "add": lambda x, y: torch.add(x, y, alpha=2),
    "sub": lambda x, y: x.sub(y, alpha=0.5),
    "rsub": lambda x, y: torch.rsub(x, y),
    "mul": torch.mul,
    "div": torch.div,
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor_divide": torch.floor_divide,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "pow": lambda x, y: torch.pow(x.abs(), y),
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "logaddexp": torch.logaddexp,
    "xlogy": lambda x, y: torch.xlogy(x, y.abs()),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "clamp": lambda x, y: x.clamp(y, y + 1),
    "clamp_min": lambda x, y: x.clamp(min=y),
    "clamp_max": lambda x, y: x.clamp(max=y),
    "lerp": lambda x, y: (x.lerp(y, 0.3), x.lerp(y, 0.7), x.lerp(y, y)),
    "where": lambda x, y: torch.where(x > y, x, y),
    "addcmul": lambda x, y: x.addcmul(x, y, value=2),
    "addcdiv": lambda x, y: x.addcdiv(x, y, value=2),
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "glu": lambda x, y: functional.glu(torch.where(x > y, x, y)[:, :10]),
    "prelu": lambda x, y: functional.prelu(x, y[0, :1]),
}


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name):
    x, y = sample((7, 11), torch.float32), sample((7, 11), torch.float32)
    x[0, :9] = torch.tensor(SPECIAL)
    y[1, :9] = torch.tensor(SPECIAL)
    x[2], y[2] = 7.5, torch.arange(-5.0, 6)
    compare(BINARY[name], x, y)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8])
@pytest.mark.parametrize(
    "name",
    ["mul", "div", "div_floor", "div_trunc", "fmod", "remainder", "pow", "maximum"],
)
def test_functions_of_two_integers(name, dtype):
    x, y = sample((7, 11), dtype, -9, 9), sample((7, 11), dtype, 1, 4).clamp(1)
    y = torch.where(sample((7, 11), torch.bool), y, -y) if dtype.is_signed else y
    y = y.abs() if name == "pow" else y
    compare(BINARY[name], x, y)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_bits(dtype):
    def bits(x, y):
        left, right = torch.bitwise_left_shift(x, y), torch.bitwise_right_shift(x, y)
        return x & y, x | y, x ^ y, left, right

    compare(bits, sample((7, 11), dtype, 0, 100), sample((7, 11), dtype, 0, 9))


def test_bits_of_bool():
    def bits(x, y):
        return x & y, x | y, x ^ y, x + y, x * y, x.logical_xor(y), x == y, x > y

    compare(bits, sample((7, 11), torch.bool), sample((7, 11), torch.bool))


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes_of_a_sum(dtype):
    x = sample((7, 11), dtype)
    compare(lambda x: (x + x, x * 3, x + 2.5), x)


@pytest.mark.parametrize("other", [torch.float16, torch.int64, torch.bool])
def test_two_dtypes(other):
    x, y = sample((7, 11), torch.float32), sample((7, 11), other)
    compare(lambda x, y: (x + y, y * x, torch.where(y > 0, x, y)), x, y)


def test_dividing_an_integer_by_zero_does_not_end_the_process():
    x = torch.tensor([7, -(2**63)], device=DEVICE)
    assert (x // torch.tensor([0, -1], device=DEVICE)).tolist() == [-1, -(2**63)]
    assert (x % torch.tensor([0, -1], device=DEVICE)).tolist() == [7, 0]


def test_layouts():
    def layouts(x, y):
        wide = torch.zeros(7, 22, device=x.device)
        wide[:, ::2] = x * y
        return x.t() + y.t(), x + y[0], x[:, :1] * y[:1], wide, x[1:, 2:] - y[:-1, 2:]

    compare(layouts, sample((7, 11), torch.float32), sample((7, 11), torch.float32))


@pytest.mark.parametrize("dims", [3, 5])
def test_broadcasts_of_many_dimensions(dims):
    x = sample([2] * dims, torch.float32)
    y = sample([2, 1] * (dims // 2) + [1] * (dims % 2), torch.float32)
    compare(lambda x, y: x.permute(*range(dims)[::-1]) + y, x, y)


def test_in_place_and_out():
    def forms(x, y):
        out = torch.empty(0, device=x.device)
        torch.mul(x, y, out=out)
        x.add_(y).sub_(1).mul_(y).clamp_(-1, 1)
        wide = torch.empty(7, 11, dtype=torch.float64, device=x.device)
        torch.add(x, y, out=wide)
        return out, x, wide

    compare(forms, sample((7, 11), torch.float32), sample((7, 11), torch.float32))


def test_empty_and_single_tensors():
    compare(lambda x: x + 1, torch.empty(0, 3))
    compare(lambda x: x.exp() * x, torch.tensor(0.5))


def test_a_large_tensor():
    x = torch.arange(3_000_001.0)
    compare(lambda x: x[1:] * 2 + 1, x)
    compare(lambda x: x[:3_000_000].view(1500, 2000).t() + 1, x)


def test_numbers():
    def numbers(x):
        return x + 1, 2 - x, x / 3, 3 / x, 2**x, x**2, x**-1.5, x % 0.7, x > 0.5, x == 1

    compare(numbers, sample((7, 11), torch.float32, 0.1, 3))


@pytest.mark.parametrize("bounds", [(-1, 1), (None, 1), (-1, None), (1, -1)])
def test_clamp(bounds):
    compare(lambda x: x.clamp(*bounds), torch.tensor([*SPECIAL, 3.0]))
    compare(lambda x: x.clamp(*bounds), torch.arange(-3, 4))


def test_nan_to_num_of_each_dtype():
    for dtype in FLOATING:
        x = torch.tensor(SPECIAL, dtype=dtype)
        compare(lambda x: (x.nan_to_num(), x.nan_to_num(1, 2, 3)), x, exact=True)


def test_numbers_become_elements_of_the_dtype():
    compare(lambda x: x == 0.1, torch.tensor([0.1], dtype=torch.float16))
    compare(lambda x: x == 300, torch.tensor([44, 45], dtype=torch.uint8))


def test_complex_numbers_fall_back():
    x = torch.randn(3, 4, dtype=torch.complex64)
    compare(lambda x: x * x, x, native_only=False)
    assert torch.ocl.fallback_counts()["aten::mul.out"] == 1


def test_a_storage_that_is_too_small():
    x = torch.ones(100, device=DEVICE)
    x.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="storage"):
        native(torch.exp, x)


@pytest.mark.parametrize("function", [torch.bitwise_not, lambda x: x & x])
def test_a_bitwise_function_of_floats_raises_what_the_cpu_raises(function):
    with pytest.raises(NotImplementedError, match="not implemented for 'Float'"):
        function(torch.ones(2, device="ocl"))

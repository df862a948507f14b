# The functions of libdevice; see docs/modules/triton-libdevice.md.
import importlib.util
import itertools
import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch
from torch.testing import assert_close
from triton.language.extra.cuda import libdevice
from triton_openreg import toolchain

special = torch.special
ROUNDINGS = ("rn", "rz", "rd", "ru")
KERNEL = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel({names}, out, B: tl.constexpr):
    i = tl.arange(0, B)
"""


@pytest.fixture
def evaluate(tmp_path):
    """Compute expressions of blocks x, y, ... in one kernel; return a row for each."""
    count = itertools.count()

    def run(expressions, result=torch.float64, **blocks):
        lines = [f"    {name} = tl.load({name}_ptr + i)" for name in blocks]
        for row, expression in enumerate(expressions):
            lines.append(f"    tl.store(out + {row} * B + i, {expression})")
        names = ", ".join(f"{name}_ptr" for name in blocks)
        file = tmp_path / f"kernel{next(count)}.py"  # Triton reads the source
        file.write_text(KERNEL.format(names=names) + "\n".join(lines) + "\n")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tensors = [block.to("openreg") for block in blocks.values()]
        out = torch.zeros(len(expressions), 64, dtype=result, device="openreg")
        module.kernel[(1,)](*tensors, out, B=64)
        return dict(zip(expressions, out.cpu(), strict=True))

    return run


def check(found, expected, **tolerance):
    """Compare rows by their expressions."""
    assert found.keys() == expected.keys()
    for expression, value in expected.items():
        assert_close(
            found[expression], value.to(found[expression].dtype), equal_nan=True,
            msg=lambda text, e=expression: f"{e}: {text}", **tolerance,
        )  # fmt: skip


def half_away(x):
    return torch.trunc(x + torch.copysign(torch.tensor(0.5, dtype=x.dtype), x))


def bessel(kind, order, x):
    """Those of torch have seven digits."""
    function = {"j": mpmath.besselj, "y": mpmath.bessely}[kind]
    values = [float(function(order, v)) for v in x.tolist()]
    return torch.tensor(values, dtype=torch.float64)


def cbrt(x):
    return torch.from_numpy(np.cbrt(x.numpy()))


# x: from -6 to 6; u: from -0.98 to 0.98; p: positive, to 6; v: another from -3 to 3
FLOATS = {
    **{f"{name}(x)": lambda x, u, p, v, f=getattr(torch, name): f(x) for name in (
        "asinh", "atan", "ceil", "cos", "erf", "erfc", "exp", "exp2", "expm1", "floor",
        "sin", "sinh", "cosh", "tanh", "trunc", "tan", "isnan", "isinf", "signbit")},
    **{f"{name}(u)": lambda x, u, p, v, f=getattr(special, name, None) or getattr(
        torch, name): f(u) for name in ("acos", "asin", "atanh", "erfinv")},
    **{f"{name}(p)": lambda x, u, p, v, f=getattr(torch, name): f(p) for name in (
        "log", "log10", "log1p", "log2", "rsqrt", "sqrt", "lgamma")},
    "abs(x)": lambda x, u, p, v: x.abs(),
    "acosh(p + 1)": lambda x, u, p, v: torch.acosh(p + 1),
    "cbrt(x)": lambda x, u, p, v: cbrt(x),
    "rcbrt(x)": lambda x, u, p, v: 1 / cbrt(x),
    "cospi(x)": lambda x, u, p, v: torch.cos(math.pi * x.double()),
    "sinpi(x)": lambda x, u, p, v: torch.sin(math.pi * x.double()),
    "cyl_bessel_i0(x)": lambda x, u, p, v: special.i0(x),
    "cyl_bessel_i1(x)": lambda x, u, p, v: special.i1(x),
    "erfcx(x)": lambda x, u, p, v: special.erfcx(x),
    "erfcx(p * 10)": lambda x, u, p, v: special.erfcx(p * 10),
    "erfcinv(p / 3.1)": lambda x, u, p, v: special.erfinv(1 - (p / 3.1).double()),
    "exp10(x)": lambda x, u, p, v: 10**x,
    **{f"{kind}{order}(p)": lambda x, u, p, v, k=kind, n=order: bessel(k, n, p)
       for kind in "jy" for order in (0, 1)},
    "jn(2, p)": lambda x, u, p, v: bessel("j", 2, p),
    "yn(2, p)": lambda x, u, p, v: bessel("y", 2, p),
    "logb(p)": lambda x, u, p, v: torch.floor(torch.log2(p)),
    "ilogb(p)": lambda x, u, p, v: torch.floor(torch.log2(p)),
    "nearbyint(x)": lambda x, u, p, v: x.round(),
    "rint(x)": lambda x, u, p, v: x.round(),
    "llrint(x)": lambda x, u, p, v: x.round(),
    "round(x)": lambda x, u, p, v: half_away(x),
    "llround(x)": lambda x, u, p, v: half_away(x),
    "normcdf(x)": lambda x, u, p, v: special.ndtr(x),
    "normcdfinv(p / 6.1)": lambda x, u, p, v: special.ndtri((p / 6.1).double()),
    "tgamma(p)": lambda x, u, p, v: torch.lgamma(p).exp(),
    "atan2(x, v)": lambda x, u, p, v: torch.atan2(x, v),
    "copysign(x, v)": lambda x, u, p, v: torch.copysign(x, v),
    "fdim(x, v)": lambda x, u, p, v: (x - v).clamp(min=0),
    "fmod(x, v)": lambda x, u, p, v: torch.fmod(x, v),
    "hypot(x, v)": lambda x, u, p, v: torch.hypot(x, v),
    "rhypot(x, v)": lambda x, u, p, v: 1 / torch.hypot(x, v),
    "nextafter(x, v)": lambda x, u, p, v: torch.nextafter(x, v),
    "pow(p, v)": lambda x, u, p, v: p**v,
    "pow(x, 3)": lambda x, u, p, v: x**3,
    "ldexp(x, 3)": lambda x, u, p, v: x * 8,
    "scalbn(x, -2)": lambda x, u, p, v: x / 4,
    "fma(x, v, p)": lambda x, u, p, v: x * v + p,
    "norm3d(x, v, p)": lambda x, u, p, v: (x * x + v * v + p * p).sqrt(),
    "norm4d(x, v, p, u)": lambda x, u, p, v: (x * x + v * v + p * p + u * u).sqrt(),
    "rnorm3d(x, v, p)": lambda x, u, p, v: (x * x + v * v + p * p).rsqrt(),
    "rnorm4d(x, v, p, u)": lambda x, u, p, v: (x * x + v * v + p * p + u * u).rsqrt(),
}  # fmt: skip
FAST = {
    "fast_cosf(x)": torch.cos, "fast_sinf(x)": torch.sin, "fast_tanf(x)": torch.tan,
    "fast_expf(x)": torch.exp, "fast_exp10f(x)": lambda x: 10**x,
    "saturatef(x)": lambda x: x.clamp(0, 1), "finitef(x)": torch.isfinite,
    "fast_logf(abs(x))": lambda x: x.abs().log(),
    "fast_log2f(abs(x))": lambda x: x.abs().log2(),
    "fast_log10f(abs(x))": lambda x: x.abs().log10(),
    "fast_powf(abs(x), x)": lambda x: x.abs() ** x,
    "fast_dividef(x, x + 7)": lambda x: x / (x + 7),
    "float_as_int(x)": lambda x: x.view(torch.int32),
    "int_as_float(float_as_int(x))": lambda x: x,
}  # fmt: skip


def called(expression):
    """Write ``libdevice.`` before functions."""
    return re.sub(r"\b([a-z]\w*)(?=\()", r"libdevice.\1", expression)


def floats(dtype):
    """Return the blocks that expressions use."""
    x = torch.linspace(-6, 6, 64, dtype=torch.float64)
    blocks = {"x": x, "u": x / 6.1, "p": x.abs() + 0.01, "v": x.flip(0) / 2 + 0.1}
    return {name: block.to(dtype) for name, block in blocks.items()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_functions_of_floats(dtype, evaluate):
    blocks, tolerance = floats(dtype), 3e-5 if dtype == torch.float32 else 1e-9
    found = evaluate([called(e) for e in FLOATS], **blocks)
    expected = {called(e): f(**blocks) for e, f in FLOATS.items()}
    check(found, expected, rtol=tolerance, atol=tolerance)


def test_functions_of_float32(evaluate):
    x = floats(torch.float32)["x"]
    found = evaluate([called(e) for e in FAST], x=x)
    expected = {called(e): f(x) for e, f in FAST.items()}
    check(found, expected, rtol=1e-5, atol=1e-5)


def test_edges(evaluate):
    x = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 1e38, -1e38] * 8)
    names = ("exp", "log", "log2", "exp2", "tanh", "erf", "sqrt", "rsqrt", "erfc")
    found = evaluate([f"libdevice.{name}(x)" for name in names], x=x)
    wide = x.double()
    expected = {f"libdevice.{n}(x)": getattr(torch, n)(wide).float() for n in names}
    check(found, expected, rtol=1e-6, atol=1e-45)


def test_integers(evaluate):
    x = torch.randint(-(2**31), 2**31, (64,), dtype=torch.int64).to(torch.int32)
    y = torch.randint(-(2**31), 2**31, (64,), dtype=torch.int64).to(torch.int32)
    x[:2] = torch.tensor([0, -1])
    a, b = x.tolist(), y.tolist()

    def each(function):
        return torch.tensor([function(p, q) for p, q in zip(a, b, strict=True)])

    def wrapped(number):
        return (number + 2**31) % 2**32 - 2**31

    mask = 0xFFFFFFFF
    expected = {
        "clz(x)": each(lambda p, q: 32 - (p & mask).bit_length()),
        "popc(x)": each(lambda p, q: (p & mask).bit_count()),
        "brev(x)": each(lambda p, q: wrapped(int(f"{p & mask:032b}"[::-1], 2))),
        "ffs(x)": each(lambda p, q: (p & -p & mask).bit_length()),
        "mulhi(x, y)": each(lambda p, q: p * q >> 32),
        "hadd(x, y)": each(lambda p, q: p + q >> 1),
        "rhadd(x, y)": each(lambda p, q: p + q + 1 >> 1),
        "sad(x // 4, y // 4, 5)": each(
            lambda p, q: abs(math.trunc(p / 4) - math.trunc(q / 4)) + 5),
        "mul24(x // 512, y // 512)": each(
            lambda p, q: wrapped(math.trunc(p / 512) * math.trunc(q / 512))),
        "byte_perm(x, y, 0x7531)": each(lambda p, q: wrapped(int.from_bytes(
            (p & mask).to_bytes(4, "little")[1::2]
            + (q & mask).to_bytes(4, "little")[1::2], "little"))),
    }  # fmt: skip
    expressions = [called(e).replace("5)", "tl.full([B], 5, tl.uint32))") for e in expected]
    found = evaluate(expressions, torch.int64, x=x, y=y)
    check(found, dict(zip(expressions, expected.values(), strict=True)), rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_rounding_of_arithmetic(rounding, evaluate):
    """numpy has no modes: wider arithmetic, rounded by hand."""
    x, y = (torch.rand(64, generator=torch.Generator().manual_seed(s)) + 0.5 for s in (1, 2))
    wide = {
        "add": x.double() + y, "sub": x.double() - y, "mul": x.double() * y.double(),
        "div": x.double() / y.double(),
    }  # fmt: skip
    found = evaluate([f"libdevice.{n}_{rounding}(x, y)" for n in wide], x=x, y=y)
    expected = {f"libdevice.{n}_{rounding}(x, y)": rounded(w, rounding) for n, w in wide.items()}
    roots = {
        f"libdevice.sqrt_{rounding}(x)": rounded(x.double().sqrt(), rounding),
        f"libdevice.rcp_{rounding}(x)": rounded(1 / x.double(), rounding),
    }
    found |= evaluate(list(roots), x=x)
    check(found, expected | roots, rtol=0, atol=0)


def rounded(wide, rounding):
    """Return the float32 on the side of a float64 that a mode names."""
    near = wide.float()
    up = torch.where(near < wide, torch.nextafter(near, torch.tensor(math.inf)), near)
    down = torch.where(near > wide, torch.nextafter(near, torch.tensor(-math.inf)), near)
    zero = torch.where(wide > 0, down, up)
    return {"rn": near, "ru": up, "rd": down, "rz": zero}[rounding]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_rounding_of_conversions(rounding, evaluate):
    x = torch.linspace(-100, 100, 64, dtype=torch.float64) * 1.37
    whole = {
        "rn": torch.round, "rz": torch.trunc, "rd": torch.floor, "ru": torch.ceil
    }[rounding]  # fmt: skip
    to_int = [f"libdevice.double2{t}_{rounding}(x)" for t in ("int", "ll")]
    found = evaluate(to_int, torch.int64, x=x)
    check(found, {e: whole(x) for e in to_int}, rtol=0, atol=0)
    single = x.float()
    to_int = [f"libdevice.float2{t}_{rounding}(x)" for t in ("int", "ll")]
    check(evaluate(to_int, torch.int64, x=single), {e: whole(single) for e in to_int})
    narrow = f"libdevice.double2float_{rounding}(x)"
    check(evaluate([narrow], x=x), {narrow: rounded(x, rounding)}, rtol=0, atol=0)
    long = torch.arange(64) * 1234567891234567
    wide = f"libdevice.ll2float_{rounding}(x)"
    check(evaluate([wide], x=long), {wide: rounded(long.double(), rounding)}, rtol=0, atol=0)


def test_every_symbol_exists(tmp_path):
    """Whatever CUDA's module names: a C++ function with these types."""
    cpp = {
        "int32": "int32_t", "uint32": "int32_t", "int64": "int64_t",
        "uint64": "int64_t", "fp32": "float", "fp64": "double",
    }  # fmt: skip
    text = re.sub(r"\s+", " ", Path(libdevice.__file__).read_text())
    dtype = r'core\.dtype\("(\w+)"\)'
    rows = sorted(set(re.findall(rf'\(([^()]*(?:\([^()]*\)[^()]*)*)\): \("__nv_(\w+)", {dtype}', text)))
    assert len(rows) > 300
    lines = ['#include "kernel.h"', '#include "libdevice.h"', "using namespace triton_openreg;"]
    for n, (types, name, result) in enumerate(rows):
        found = [cpp[t] for t in re.findall(dtype, types)]
        parameters = ", ".join(f"{t} a{k}" for k, t in enumerate(found))
        arguments = ", ".join(f"a{k}" for k in range(len(found)))
        call = f"libdevice::{name}({arguments})"
        lines.append(f"{cpp[result]} f{n}({parameters}) {{ return {call}; }}")
    assert toolchain.build("\n".join(lines), fusion=False)

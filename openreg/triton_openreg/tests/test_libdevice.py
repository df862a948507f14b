# The functions of libdevice; see docs/modules/triton-compiler.md.
import importlib.util
import itertools
import math
import re
from pathlib import Path

import mpmath
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


def bessel(kind, order, x):
    """Those of torch have seven digits."""
    function = {"j": mpmath.besselj, "y": mpmath.bessely}[kind]
    values = [float(function(order, v)) for v in x.tolist()]
    return torch.tensor(values, dtype=torch.float64)


# x: from -6 to 6; u: from -0.98 to 0.98; p: positive, to 6; v: another from -3 to 3
SAME = """
    asinh(x) atan(x) ceil(x) cos(x) erf(x) erfc(x) exp(x) exp2(x) expm1(x) floor(x)
    sin(x) sinh(x) cosh(x) tanh(x) trunc(x) tan(x) isnan(x) isinf(x) signbit(x) abs(x)
    acos(u) asin(u) atanh(u) erfinv(u) log(p) log10(p) log1p(p) log2(p) rsqrt(p) sqrt(p)
    lgamma(p) erfcx(x) atan2(x,v) copysign(x,v) fmod(x,v) hypot(x,v)
    nextafter(x,v)
"""  # one a word
FLOATS = {
    **{expression: expression for expression in SAME.split()},
    "acosh(p + 1)": "acosh(p + 1)",
    "cbrt(x)": "copysign(abs(x) ** (1 / 3), x)",
    "rcbrt(x)": "copysign(abs(x) ** (-1 / 3), x)",
    "cospi(x)": "cos(math.pi * x.double())",
    "sinpi(x)": "sin(math.pi * x.double())",
    "cyl_bessel_i0(x)": "i0(x)",
    "cyl_bessel_i1(x)": "special.i1(x)",
    "erfcx(p * 10)": "erfcx(p * 10)",
    "erfcinv(p / 3.1)": "erfinv(1 - (p / 3.1).double())",
    "exp10(x)": "10**x",
    **{f"{k}{n}(p)": f"bessel('{k}', {n}, p)" for k in "jy" for n in (0, 1)},
    **{f"{k}n(2, p)": f"bessel('{k}', 2, p)" for k in "jy"},
    "logb(p)": "floor(log2(p))",
    "ilogb(p)": "floor(log2(p))",
    "nearbyint(x)": "x.round()",
    "rint(x)": "x.round()",
    "llrint(x)": "x.round()",
    "round(x)": "trunc(x + x.sign() / 2)",
    "llround(x)": "trunc(x + x.sign() / 2)",
    "normcdf(x)": "special.ndtr(x)",
    "normcdfinv(p / 6.1)": "special.ndtri((p / 6.1).double())",
    "tgamma(p)": "lgamma(p).exp()",
    "fdim(x, v)": "(x - v).clamp(min=0)",
    "rhypot(x, v)": "1 / hypot(x, v)",
    "remainder(x, v)": "x - v * (x / v).round()",
    "pow(p, v)": "p**v",
    "pow(x, 3)": "x**3",
    "ldexp(x, 3)": "x * 8",
    "scalbn(x, -2)": "x / 4",
    "fma(x, v, p)": "x * v + p",
    "norm3d(x, v, p)": "(x * x + v * v + p * p).sqrt()",
    "norm4d(x, v, p, u)": "(x * x + v * v + p * p + u * u).sqrt()",
    "rnorm3d(x, v, p)": "(x * x + v * v + p * p).rsqrt()",
    "rnorm4d(x, v, p, u)": "(x * x + v * v + p * p + u * u).rsqrt()",
}
FAST = {
    "fast_cosf(x)": "cos(x)",
    "fast_sinf(x)": "sin(x)",
    "fast_tanf(x)": "tan(x)",
    "fast_expf(x)": "exp(x)",
    "fast_exp10f(x)": "10**x",
    "fast_logf(p)": "log(p)",
    "fast_log2f(p)": "log2(p)",
    "fast_log10f(p)": "log10(p)",
    "fast_powf(p, x)": "p**x",
    "fast_dividef(x, p)": "x / p",
    "saturatef(x)": "x.clamp(0, 1)",
    "finitef(x)": "isfinite(x)",
    "float_as_int(x)": "x.view(int32)",
    "int_as_float(float_as_int(x))": "x",
}


def called(expression):
    """Write ``libdevice.`` before functions."""
    return re.sub(r"\b([a-z]\w*)(?=\()", r"libdevice.\1", expression)


def referenced(expression, blocks):
    """Compute what torch, or this module, has under the names of an expression."""
    names = {**vars(special), **vars(torch), **globals()}
    return eval(expression, names, blocks)


def floats(dtype):
    """Return the blocks that expressions use."""
    x = torch.linspace(-6, 6, 64, dtype=torch.float64)
    blocks = {"x": x, "u": x / 6.1, "p": x.abs() + 0.01, "v": x.flip(0) / 2 + 0.1}
    return {name: block.to(dtype) for name, block in blocks.items()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_functions_of_floats(dtype, evaluate):
    blocks, tolerance = floats(dtype), 3e-5 if dtype == torch.float32 else 1e-9
    found = evaluate([called(e) for e in FLOATS], **blocks)
    expected = {called(e): referenced(text, blocks) for e, text in FLOATS.items()}
    check(found, expected, rtol=tolerance, atol=tolerance)


def test_functions_of_float32(evaluate):
    blocks = floats(torch.float32)
    found = evaluate([called(e) for e in FAST], **blocks)
    expected = {called(e): referenced(text, blocks) for e, text in FAST.items()}
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
    expressions = [
        called(e).replace("5)", "tl.full([B], 5, tl.uint32))") for e in expected
    ]
    found = evaluate(expressions, torch.int64, x=x, y=y)
    check(found, dict(zip(expressions, expected.values(), strict=True)), rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_rounding_of_arithmetic(rounding, evaluate):
    """numpy has no modes: wider arithmetic, rounded by hand."""
    x, y = (
        torch.rand(64, generator=torch.Generator().manual_seed(s)) + 0.5 for s in (1, 2)
    )
    wide = {
        "add": x.double() + y, "sub": x.double() - y, "mul": x.double() * y.double(),
        "div": x.double() / y.double(),
    }  # fmt: skip
    found = evaluate([f"libdevice.{n}_{rounding}(x, y)" for n in wide], x=x, y=y)
    expected = {
        f"libdevice.{n}_{rounding}(x, y)": rounded(w, rounding) for n, w in wide.items()
    }
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
    down = torch.where(
        near > wide, torch.nextafter(near, torch.tensor(-math.inf)), near
    )
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
    check(
        evaluate([wide], x=long),
        {wide: rounded(long.double(), rounding)},
        rtol=0,
        atol=0,
    )


def test_every_symbol_exists(tmp_path):
    """Whatever CUDA's module names: a C++ function with these types."""
    cpp = {
        "int32": "int32_t", "uint32": "int32_t", "int64": "int64_t",
        "uint64": "int64_t", "fp32": "float", "fp64": "double",
    }  # fmt: skip
    text = re.sub(r"\s+", " ", Path(libdevice.__file__).read_text())
    dtype = r'core\.dtype\("(\w+)"\)'
    rows = sorted(
        set(
            re.findall(
                rf'\(([^()]*(?:\([^()]*\)[^()]*)*)\): \("__nv_(\w+)", {dtype}', text
            )
        )
    )
    assert len(rows) > 300
    lines = [
        '#include "kernel.h"',
        '#include "libdevice.h"',
        "using namespace triton_openreg;",
    ]
    for n, (types, name, result) in enumerate(rows):
        found = [cpp[t] for t in re.findall(dtype, types)]
        parameters = ", ".join(f"{t} a{k}" for k, t in enumerate(found))
        arguments = ", ".join(f"a{k}" for k in range(len(found)))
        call = f"libdevice::{name}({arguments})"
        lines.append(f"{cpp[result]} f{n}({parameters}) {{ return {call}; }}")
    assert toolchain.build("\n".join(lines), fusion=False)

# The functions of libdevice; see docs/modules/triton-libdevice.md.
import inspect
import math
import re

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from torch.testing import assert_close
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice

S = torch.special
UNARY = {  # a function that computes the same, and where it is defined
    **{name: (getattr(torch, name), "all") for name in (
        "asinh", "atan", "ceil", "cos", "erf", "erfc", "exp", "exp2", "expm1", "floor",
        "sin", "sinh", "cosh", "tanh", "trunc", "tan", "erfinv")},
    **{name: (getattr(torch, name), "unit") for name in ("acos", "asin", "atanh", "erfinv")},
    **{name: (getattr(torch, name), "positive") for name in (
        "log", "log10", "log1p", "log2", "rsqrt", "sqrt", "lgamma")},
    "abs": (torch.abs, "all"),
    "acosh": (lambda x: torch.acosh(x + 1), "shifted"),
    "cbrt": (lambda x: torch.from_numpy(np.cbrt(x.numpy())), "all"),
    "rcbrt": (lambda x: 1 / torch.from_numpy(np.cbrt(x.numpy())), "positive"),
    "cospi": (lambda x: torch.cos(math.pi * x), "unit"),
    "sinpi": (lambda x: torch.sin(math.pi * x), "unit"),
    "cyl_bessel_i0": (S.i0, "all"),
    "cyl_bessel_i1": (S.i1, "all"),
    "erfcx": (S.erfcx, "all"),
    "erfcinv": (lambda x: S.erfinv(1 - x), "unit_positive"),
    "exp10": (lambda x: 10**x, "all"),
    "j0": (S.bessel_j0, "all"),
    "j1": (S.bessel_j1, "all"),
    "y0": (S.bessel_y0, "positive"),
    "y1": (S.bessel_y1, "positive"),
    "logb": (lambda x: torch.floor(torch.log2(x)), "positive"),
    "nearbyint": (torch.round, "all"),
    "rint": (torch.round, "all"),
    "round": (lambda x: torch.trunc(x + torch.sign(x) / 2), "all"),
    "normcdf": (S.ndtr, "all"),
    "normcdfinv": (S.ndtri, "unit_positive"),
    "tgamma": (lambda x: torch.exp(torch.lgamma(x)), "positive"),
    **{name: (test, "all") for name, test in (
        ("isnan", torch.isnan), ("isinf", torch.isinf), ("signbit", torch.signbit))},
    "ilogb": (lambda x: torch.floor(torch.log2(x)).int(), "positive"),
    "llrint": (lambda x: torch.round(x).long(), "all"),
    "llround": (lambda x: torch.trunc(x + torch.sign(x) / 2).long(), "all"),
}  # fmt: skip
UNARY["erfinv"] = (S.erfinv, "unit")
BINARY = {
    "atan2": torch.atan2, "copysign": torch.copysign, "fmod": torch.fmod,
    "hypot": torch.hypot, "nextafter": torch.nextafter,
    "fdim": lambda x, y: torch.clamp(x - y, min=0),
    "pow": lambda x, y: torch.abs(x) ** y,
    "remainder": lambda x, y: x - y * torch.round(x / y),
    "rhypot": lambda x, y: 1 / torch.hypot(x, y),
    "add_rn": torch.add, "sub_rn": torch.sub, "mul_rn": torch.mul, "div_rn": torch.div,
}  # fmt: skip
INTEGERS = {
    "clz": lambda x: 32 - (x & 0xFFFFFFFF).bit_length(),
    "popc": lambda x: (x & 0xFFFFFFFF).bit_count(),
    "brev": lambda x: int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2),
    "ffs": lambda x: (x & -x).bit_length(),
    "abs": abs,
}
ROUNDED = ("rn", "rz", "rd", "ru")


def inputs(domain: str, dtype: torch.dtype) -> torch.Tensor:
    """Return 128 numbers for which a function is defined."""
    x = torch.linspace(-6, 6, 128, dtype=dtype)
    return {
        "unit": x / 6.5, "unit_positive": x.abs() / 6.5 + 0.01,
        "positive": x.abs() + 0.01, "shifted": x.abs(),
    }.get(domain, x)  # fmt: skip


def kernel_of(tmp_path, call, arity, loads="x + i"):
    """Return a kernel that calls a function; Triton reads kernels from files."""
    import importlib.util

    names = [f"x{n}" for n in range(arity)]
    lines = [f"    v{n} = tl.load({name} + i)" for n, name in enumerate(names)]
    values = ", ".join(f"v{n}" for n in range(arity))
    file = tmp_path / f"kernel_{abs(hash((call, arity)))}.py"
    file.write_text(
        "import triton\nimport triton.language as tl\n"
        "from triton.language.extra import libdevice\n\n\n"
        f"@triton.jit\ndef kernel({', '.join(names)}, out, B: tl.constexpr):\n"
        "    i = tl.arange(0, B)\n" + "\n".join(lines) + "\n"
        f"    tl.store(out + i, {call.format(values)})\n"
    )
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def run(kernel, result, *tensors):
    out = torch.zeros(tensors[0].numel(), dtype=result, device="openreg")
    kernel[(1,)](*(t.to("openreg") for t in tensors), out, B=out.numel())
    return out.cpu()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_functions_of_one_number(dtype, tmp_path):
    """All in one kernel: a compiler starts once."""
    names = sorted(set(UNARY) - {"abs"})
    found = {}
    for group in (names[:25], names[25:]):
        found |= call_all(group, dtype, tmp_path)
    for name, actual in found.items():
        function, domain = UNARY[name]
        expected = function(inputs(domain, torch.float64).to(dtype))
        tolerance = 2e-5 if dtype == torch.float32 else 1e-7
        assert_close(
            actual.double(), expected.double(), rtol=tolerance, atol=tolerance,
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip


def call_all(names, dtype, tmp_path):
    """Return what each function computes."""
    lines = []
    for row, name in enumerate(names):
        call = f"libdevice.{name}(tl.load(x + {row} * B + i))"
        if name == "acosh":
            call = f"libdevice.acosh(tl.load(x + {row} * B + i) + 1)"
        lines.append(f"    tl.store(out + {row} * B + i, {call})")
    kernel = kernel_of_lines(tmp_path, lines, f"all_{names[0]}_{dtype}".replace(".", "_"))
    x = torch.stack([inputs(UNARY[n][1], torch.float64).to(dtype) for n in names])
    out = torch.zeros_like(x, device="openreg")
    kernel[(1,)](x.to("openreg"), out, B=128)
    return dict(zip(names, out.cpu(), strict=True))


def kernel_of_lines(tmp_path, lines, name):
    import importlib.util

    file = tmp_path / f"{name}.py"
    file.write_text(
        "import triton\nimport triton.language as tl\n"
        "from triton.language.extra import libdevice\n\n\n"
        "@triton.jit\ndef kernel(x, out, B: tl.constexpr):\n"
        "    i = tl.arange(0, B)\n" + "\n".join(lines) + "\n"
    )
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel

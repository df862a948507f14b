# What the compiler refuses, with the line and what to use instead; see
# docs/modules/triton-compiler.md.
import re

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources
from triton_openreg.lower import lower
from triton_openreg.ttir import Unsupported


@triton.jit
def assembly_kernel(x):
    v = tl.inline_asm_elementwise("nop", "=r,r", [tl.load(x)], tl.int32, True, 1)
    tl.store(x, v)


@triton.jit
def scaled_kernel(a, out, B: tl.constexpr):
    i = tl.arange(0, B)
    k = i[:, None] * B + i[None, :]
    scale = tl.full([B, 1], 127, tl.uint8)
    v = tl.load(a + k)
    tl.store(out + k, tl.dot_scaled(v, scale, "e5m2", v, scale, "e5m2"))


@triton.jit
def fp8_kernel(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i).to(tl.float8e4b15).to(tl.float32))


@triton.jit
def scan_kernel(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit(noinline=True)
def twice(v):
    return v * 2


@triton.jit
def block_call_kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), twice(tl.load(x + tl.arange(0, B))))


def line_of(kernel, text):
    """Return ``file:line`` of a text in a kernel."""
    source = kernel.fn.__code__
    lines = kernel.src.splitlines()
    offset = next(n for n, line in enumerate(lines) if text in line)
    first = kernel.starting_line_number + 1  # that of `def`
    return f"{source.co_filename}:{first + offset}"


def test_inline_assembly():
    with pytest.raises(Unsupported) as error:
        assembly_kernel[(1,)](torch.ones(1, dtype=torch.int32, device="openreg"))
    message = str(error.value)
    assert message.startswith(line_of(assembly_kernel, "inline_asm"))
    assert "tt.elementwise_inline_asm" in message
    assert "write it in triton.language" in message


def test_scaled_dot():
    x = torch.ones(32, 32).to(torch.float8_e5m2).to("openreg")
    with pytest.raises(Unsupported, match=r"tt\.dot_scaled: scaled formats") as error:
        scaled_kernel[(1,)](x, torch.ones(32, 32, device="openreg"), B=32)
    assert str(error.value).startswith(line_of(scaled_kernel, "dot_scaled"))


def test_other_formats_of_8_bits():
    """Triton's front end refuses them, as the backend names no conversion."""
    with pytest.raises(triton.CompilationError, match="doesn't provide conversion"):
        fp8_kernel[(1,)](torch.ones(32, device="openreg"), B=32)


def test_block_to_a_function_that_is_not_inlined():
    with pytest.raises(triton.CompilationError, match="non-scalar argument"):
        block_call_kernel[(1,)](torch.ones(32, device="openreg"), B=32)


def test_too_large_a_block():
    """Nothing is launched: the device goes on."""
    x = torch.ones(1 << 20, device="openreg")
    with pytest.raises(OutOfResources, match="Required: 8388608"):
        scan_kernel[(1,)](x, B=1 << 20)
    torch.openreg.synchronize()
    assert x.sum().item() == 1 << 20


def ttir(*lines):
    body = "\n".join(f"    {line} loc(#loc1)" for line in (*lines, "tt.return"))
    head = '#loc1 = loc("kernel.py":7:4)\nmodule {\n'
    function = f"  tt.func public @kernel(%x: !tt.ptr<f32>) {{\n{body}\n  }} loc(#loc1)"
    return f"{head}{function}\n}} loc(#loc1)\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "tt.unheard_of %x : !tt.ptr<f32>",
            "tt.unheard_of: the operation is not implemented",
        ),
        (
            "%c = arith.constant dense<[1, 2]> : tensor<2xi32>",
            "arith.constant: a block of several constants; load them from memory",
        ),
        ("%c = arith.constant 1.0 : f8E4M3B11FNUZ", "the type f8E4M3B11FNUZ"),
        ("%c = arith.constant 7 : i7", "the type i7"),
        (
            '%1 = tt.extern_elementwise %x {symbol = "mine"} : (!tt.ptr<f32>) -> f32',
            "the function mine; use those of triton.language.extra.libdevice",
        ),
    ],
)
def test_what_no_front_end_of_today_makes(line, message):
    """A later Triton may have other operations: an error, and no wrong number."""
    with pytest.raises(Unsupported, match=re.escape(message)) as error:
        lower(ttir(line))
    assert str(error.value).startswith("kernel.py:7: openreg cannot compile ")


def test_gluon():
    from triton.backends.compiler import GPUTarget, Language
    from triton_openreg.compiler import OpenRegBackend

    backend = OpenRegBackend(GPUTarget("openreg", "1.0", 1))
    with pytest.raises(Unsupported, match=r"Gluon .* write the kernel in triton"):
        backend.add_stages({}, backend.parse_options({}), Language.GLUON)

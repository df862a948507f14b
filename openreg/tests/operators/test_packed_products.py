"""Products with weights of 4 bits and with float8; see docs/modules/four-bits.md."""

import pytest
import torch
from torch.testing import assert_close
from while_held import returns_while_held

pytestmark = pytest.mark.usefixtures("no_fallback")
FLOATS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


def codes_of(n, k):
    codes = torch.randint(16, (n, k), dtype=torch.int32)
    return codes, (codes[:, ::2] << 4 | codes[:, 1::2]).to(torch.uint8)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("tiles", [2, 4, 8])
@pytest.mark.parametrize(
    "sizes", [(3, 128, 16, 32), (1, 256, 64, 64), (0, 128, 8, 128)]
)
def test_int4pack_mm(dtype, tiles, sizes):
    m, k, n, group = sizes
    codes, packed = codes_of(n, k)
    x, pairs = torch.randn(m, k).to(dtype), torch.rand(k // group, n, 2).to(dtype)
    weight = torch._convert_weight_to_int4pack(packed.to("openreg"), tiles)
    assert weight.nbytes == n * k // 2
    given = x.to("openreg"), weight, group, pairs.to("openreg")
    result = torch._weight_int4pack_mm(*given)
    assert result.dtype == dtype
    scales, zeros = pairs.double().transpose(0, 1).unsqueeze(2).unbind(-1)
    exact = ((codes.double() - 8).view(n, -1, group) * scales + zeros).view(n, k)
    assert_close(
        result.cpu().double(), x.double() @ exact.t(), rtol=FLOATS[dtype], atol=1
    )
    error = result.cpu().double() - x.double() @ exact.t()
    assert error.norm() <= FLOATS[dtype] * (x.double() @ exact.t()).norm()


def test_int4pack_mm_is_that_of_the_cpu():
    codes, packed = codes_of(32, 64)
    x, pairs = torch.randn(4, 64), torch.rand(2, 32, 2)
    on_cpu = torch._convert_weight_to_int4pack_for_cpu(codes, 2)
    expected = torch._weight_int4pack_mm_for_cpu(x, on_cpu, 32, pairs)
    turned = packed.t().contiguous().to("openreg:1").t()  # a view
    weight = torch._convert_weight_to_int4pack(turned, 2)
    result = torch._weight_int4pack_mm(
        x.to("openreg:1"), weight, 32, pairs.to("openreg:1")
    )
    assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-4)
    assert result.device.index == 1


def test_the_compiler_sees_the_same_sizes():
    _, packed = codes_of(16, 64)
    here = torch._convert_weight_to_int4pack(packed.to("openreg"), 4)
    assert torch._convert_weight_to_int4pack(packed.to("meta"), 4).shape == here.shape


@pytest.mark.parametrize("dtypes", [(E4M3, E4M3), (E5M2, E4M3)])
@pytest.mark.parametrize("out", [torch.float32, torch.bfloat16, None])
@pytest.mark.parametrize("rows", [False, True])
def test_scaled_mm(dtypes, out, rows):
    a = torch.randn(16, 32).to(dtypes[0])
    b = torch.randn(48, 32).to(dtypes[1]).t()
    scales = (torch.rand(16, 1), torch.rand(1, 48)) if rows else (torch.rand(()),) * 2
    bias = torch.randn(48).to(out) if out else None
    given = (a, b, *scales)
    result = torch._scaled_mm(
        *(t.to("openreg") for t in given),
        bias=None if bias is None else bias.to("openreg"),
        out_dtype=out,
    )
    expected = torch._scaled_mm(*given, bias=bias, out_dtype=out)
    assert result.dtype == expected.dtype
    error = (result.cpu().double() - expected.double()).norm()
    assert error <= (0.05 if out is None else 0.01) * expected.double().norm()
    if out is torch.float32:
        assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-4)


def test_the_products_are_enqueued():
    _, packed = codes_of(8, 64)
    weight = torch._convert_weight_to_int4pack(packed.to("openreg"), 2)
    x, pairs = (t.to("openreg") for t in (torch.randn(2, 64), torch.rand(2, 8, 2)))
    a, one = x.to(E4M3), torch.ones((), device="openreg")
    torch.openreg.synchronize()
    stream = torch.openreg.current_stream()
    y = returns_while_held(
        lambda: torch._weight_int4pack_mm(x, weight, 32, pairs), stream
    )
    z = returns_while_held(lambda: torch._scaled_mm(a, a.t(), one, one), stream)
    assert y.shape == (2, 8) and z.shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    {
        "dtype": (
            lambda p, x: torch._convert_weight_to_int4pack(x, 2),
            r"expected Byte and \[N, K / 2\]",
        ),
        "tiles": (
            lambda p, x: torch._convert_weight_to_int4pack(p, 3),
            "innerKTiles must be 2, 4 or 8, but is 3",
        ),
        "multiple": (
            lambda p, x: torch._convert_weight_to_int4pack(p, 8),
            "K of 128, but they are 8 and 64",
        ),
        "weight": (
            lambda p, x: torch._weight_int4pack_mm(x, p, 32, x),
            "Int for the weight, and scales with the dtype of self",
        ),
        "groups": (
            lambda p, x: torch._weight_int4pack_mm(
                x, torch._convert_weight_to_int4pack(p, 2), 48, x
            ),
            "each group of 48 of 64 numbers",
        ),
        "float8": (
            lambda p, x: torch._scaled_mm(x, x.t(), x, x),
            "_scaled_mm: expected two matrices of Float8_e4m3fn",
        ),
        "scales": (
            lambda p, x: torch._scaled_mm(x.to(E4M3), x.to(E4M3).t(), x, x),
            r"one number each or \[M, 1\] and \[1, N\]",
        ),
    }.values(),
)
def test_bad_arguments(call, words):
    packed = codes_of(8, 64)[1].to("openreg")
    with pytest.raises(RuntimeError, match=words):
        call(packed, torch.ones(2, 64, device="openreg"))
    torch.openreg.synchronize()  # no kernel had started

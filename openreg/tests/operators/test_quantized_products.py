"""Products with weights of 8 bits; see docs/modules/quantization.md."""

import pytest
import torch
from against_cpu import guarded, same
from torch._higher_order_ops.out_dtype import out_dtype
from torch.profiler import ProfilerActivity, profile
from torch.testing import assert_close
from while_held import returns_while_held

pytestmark = pytest.mark.usefixtures("no_fallback")
FLOATS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}


def codes(*shape, dtype=torch.int8):
    limits = torch.iinfo(dtype)
    return torch.randint(limits.min, limits.max + 1, shape, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("sizes", [(3, 5, 4), (17, 64, 33), (0, 5, 4), (3, 0, 4)])
def test_int_mm_is_exact(dtype, sizes):
    m, k, n = sizes
    a, b, turned = codes(m, k, dtype=dtype), codes(k, n), codes(n, k)
    result = torch._int_mm(a.to("openreg"), b.to("openreg"))
    assert result.dtype == torch.int32
    assert_close(result.cpu(), (a.long() @ b.long()).int(), rtol=0, atol=0)
    same(lambda d: torch._int_mm(a.to(d), turned.to(d).t()))
    same(lambda d: torch._int_mm(a.t().contiguous().to(d).t(), b.to(d)))


def test_int_mm_into_a_view():
    a, b = codes(3, 5), codes(5, 4)
    out, memory = guarded([3, 4], torch.int32, "openreg")
    assert torch._int_mm(a.to("openreg"), b.to("openreg"), out=out) is out
    assert_close(out.cpu(), torch._int_mm(a, b), rtol=0, atol=0)
    out.fill_(1)
    assert (memory == 1).all()


# The CPU's own kernel is right in bfloat16 only for rows of a multiple of 16.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sizes", [(3, 5, 7), (1, 4, 1), (4, 33, 31), (5, 64, 32)])
def test_int8pack_mm(dtype, sizes):
    m, k, n = sizes
    x, weight, scales = torch.randn(m, k), codes(n, k), torch.rand(n)
    x, scales = x.to(dtype), scales.to(dtype)
    given = [t.to("openreg") for t in (x, weight, scales)]
    result = torch._weight_int8pack_mm(*given)
    assert result.dtype == dtype and result.stride() == (n, 1)
    expected = x.double() @ weight.double().t() * scales.double()
    error = (result.cpu().double() - expected).norm() / expected.norm()
    assert error < FLOATS[dtype]


def test_int8pack_mm_without_elements():
    for m, k, n in ((0, 5, 7), (3, 0, 7), (3, 5, 0)):
        x, weight = torch.randn(m, k), codes(n, k)
        result = torch._weight_int8pack_mm(
            *(t.to("openreg") for t in (x, weight, torch.ones(n)))
        )
        assert_close(result.cpu(), torch.zeros(m, n))


def test_int8pack_mm_of_views():
    x, weight, scales = torch.randn(16, 3), codes(16, 5), torch.rand(10)
    given = [t.to("openreg") for t in (x, weight, scales)]
    result = torch._weight_int8pack_mm(given[0].t(), given[1].t(), given[2][::2])
    assert_close(result.cpu(), x.t() @ weight.float() * scales[::2])


def test_the_cpu_reads_scales_as_if_they_were_contiguous():
    x, weight = torch.ones(1, 16), torch.ones(3, 16, dtype=torch.int8)
    scales = torch.arange(6.0)[::2]
    assert torch._weight_int8pack_mm(x, weight, scales).tolist() == [[0, 16, 32]]
    given = [t.to("openreg") for t in (x, weight, torch.arange(6.0))]
    result = torch._weight_int8pack_mm(*given[:2], given[2][::2])
    assert result.tolist() == [[0, 32, 64]]


def test_the_products_are_enqueued_on_the_device_of_their_tensors():
    for device in ("openreg:0", "openreg:1"):
        a, b, x = (t.to(device) for t in (codes(3, 5), codes(5, 4), torch.randn(3, 5)))
        scales = torch.ones(4, device=device)
        torch.openreg.synchronize(device)
        stream = torch.openreg.current_stream(device)
        y = returns_while_held(lambda a=a, b=b: torch._int_mm(a, b), stream)
        z = returns_while_held(
            lambda x=x, b=b, s=scales: torch._weight_int8pack_mm(x, b.t(), s), stream
        )
        assert y.device == z.device == torch.device(device)
        assert_close(y.cpu(), torch._int_mm(a.cpu(), b.cpu()))
        assert_close(z.cpu(), x.cpu() @ b.cpu().float())


ONE = torch.ones(3, 4)


@pytest.mark.parametrize(
    ("call", "words"),
    {
        "dtype": (
            lambda d: torch._int_mm(ONE.to(d), ONE.t().to(d)),
            "_int_mm: expected int8 or uint8, times int8, but got Float and Float",
        ),
        "sizes": (
            lambda d: torch._int_mm(codes(3, 4).to(d), codes(3, 4).to(d)),
            r"_int_mm: expected \[M, K\] and \[K, N\], but got \[3, 4\] and \[3, 4\]",
        ),
        "out": (
            lambda d: torch._int_mm(
                codes(3, 4).to(d), codes(4, 3).to(d), out=torch.empty(3, 3, device=d)
            ),
            r"_int_mm: out must be Int and \[3, 3\], but is Float and \[3, 3\]",
        ),
        "devices": (
            lambda d: torch._int_mm(codes(3, 4).to(d), codes(4, 3)),
            "Expected all tensors to be on the same device",
        ),
        "scales": (
            lambda d: torch._weight_int8pack_mm(
                ONE.to(d), codes(5, 4).to(d), torch.ones(5, device=d).half()
            ),
            "_weight_int8pack_mm: expected Float, Half or BFloat16.* Char and Half",
        ),
        "weight of three dimensions": (
            lambda d: torch._weight_int8pack_mm(
                ONE.to(d), codes(5, 4, 2).to(d), torch.ones(5, device=d)
            ),
            r"expected \[M, K\], \[N, K\] and \[N\], but got \[3, 4\], \[5, 4, 2\]",
        ),
    }.values(),
)
def test_bad_arguments(call, words):
    with pytest.raises(RuntimeError, match=words):
        call("openreg")
    torch.openreg.synchronize()  # no kernel had started


def test_a_gap_out_dtype_multiplies_in_int32():
    """docs/ship/known-gaps-names.md"""
    a = codes(8, 8).to("openreg")
    with profile(activities=[ProfilerActivity.PrivateUse1]) as prof:
        result = out_dtype(torch.ops.aten.mm.default, torch.int32, a, a)
        torch.openreg.synchronize()
    names = {event.name for event in prof.events()}
    assert "mm" in names and "_int_mm" not in names
    assert_close(result, torch._int_mm(a, a), rtol=0, atol=0)

"""Operators whose kernel is a dispatch stub; see docs/operators/stub.md."""

import pytest
import torch
from torch.testing import assert_close

REAL = torch.tensor([[-1.5, 2.0, float("nan")], [0.0, -3.0, float("inf")]])
COMPLEX = torch.tensor([3 + 4j, -1j, 0])


pytestmark = pytest.mark.usefixtures("no_fallback")


@pytest.mark.parametrize(
    "call",
    [
        torch.abs,
        torch.angle,
        torch.logical_not,
        torch.conj_physical,
        torch.nn.functional.hardswish,
        lambda x: x.clone().abs_(),
        lambda x: x.t().abs(),
        lambda x: torch.where(x.real > 0, x, 2),
        lambda x: torch.where(x.real > 0, 1, x),
        lambda x: x.logical_and(x.flip(0)),
        lambda x: x.logical_or(x[:1]),
        lambda x: x.clone().logical_xor_(x > 1 if not x.is_complex() else x),
    ],
)
@pytest.mark.parametrize("values", [REAL, COMPLEX, REAL.double(), REAL[:0]])
def test_values_dtype_and_strides_are_those_of_the_cpu(call, values):
    try:
        expected = call(values)
    except (RuntimeError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            call(values.to("openreg"))
        return
    with torch.openreg.fallbacks(mode="allow"):
        actual = call(values.to("openreg"))
    assert actual.stride() == expected.stride()
    assert_close(actual.cpu(), expected, equal_nan=True)
    torch.openreg.reset_fallback_counts()  # flip is none of this chapter's


def test_out_forms_write_to_the_given_tensor():
    x = REAL.to("openreg")
    out = torch.empty(3, 2, device="openreg").t()
    assert torch.abs(x, out=out) is out
    assert_close(out.cpu(), REAL.abs(), equal_nan=True)
    mask = torch.empty(2, 3, dtype=torch.bool, device="openreg")
    torch.logical_not(x, out=mask)
    assert_close(mask.cpu(), REAL.logical_not())
    with pytest.raises(RuntimeError, match="Found dtype Long but expected Float"):
        torch.abs(x, out=torch.empty(2, 3, dtype=torch.int64, device="openreg"))


def test_conj_physical_calls_its_stub_for_every_device():
    z = COMPLEX.to("openreg")
    z.conj_physical_()
    assert_close(z.cpu(), COMPLEX.conj().resolve_conj())


def test_gradients():
    x = torch.tensor([-4.0, -1.0, 2.0, 5.0])
    for call in (torch.abs, torch.nn.functional.hardswish, torch.nn.functional.mish):
        expected = x.clone().requires_grad_()
        call(expected).sum().backward()
        actual = x.to("openreg").requires_grad_()
        call(actual).sum().backward()
        assert_close(actual.grad.cpu(), expected.grad)


def test_kernels_run_on_the_current_stream():
    x = torch.full((4,), -2.0, device="openreg")
    stream = torch.Stream("openreg")
    torch.accelerator.synchronize()
    with torch.openreg.simulator.hold(stream):
        with stream:
            result = x.abs()
        assert not stream.query()
    stream.synchronize()
    assert result.tolist() == [2.0] * 4


def test_an_empty_stub_raises(compile_cpp):
    torch.ops.load_library(compile_cpp("stub_missing"))
    message = "DispatchStub: missing kernel for openreg"
    with pytest.raises(RuntimeError, match=message):
        torch.ops.openreg_stub_missing.nan_to_num(REAL.to("openreg"))


VECTORS = torch.tensor([1.5, -2.0, 0.1]), torch.tensor([0.3, 7.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda m, a, b: torch.addr(m, a, b, beta=2, alpha=-1),
        lambda m, a, b: torch.addr(m[0], a, b),
        lambda m, a, b: torch.addr(m > 0, a > 0, b > 0),
        lambda m, a, b: torch.addr(m * float("nan"), a, b, beta=0),
        lambda m, a, b: m.clone().addr_(a, b),
        lambda m, a, b: torch.addr(m, a.real.double(), b),
        lambda m, a, b: torch.addr(m, a, b, out=m.new_empty(2, 3).t()),
        lambda m, a, b: torch.addr(m[:0], a[:0], b),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_addr_rounds_as_on_the_cpu(call, dtype):
    """Torch's composite kernel also rounds the outer product."""
    tensors = [x.to(dtype) for x in (torch.outer(*VECTORS) + 1, *VECTORS)]
    try:
        expected = call(*tensors)
    except RuntimeError as error:  # complex numbers have no order
        with pytest.raises(RuntimeError, match=str(error).partition(" ")[2]):
            call(*[x.to("openreg") for x in tensors])
        return
    with torch.openreg.fallbacks(mode="allow"):
        actual = call(*[x.to("openreg") for x in tensors])
    assert actual.stride() == expected.stride()
    assert_close(actual.cpu(), expected, rtol=0, atol=0, equal_nan=True)


def test_addr_refuses_what_is_not_a_vector():
    m = torch.ones(2, 2, device="openreg")
    with pytest.raises(RuntimeError, match="Expected 1-D argument vec1"):
        torch.addr(m, m, m[0])
    with pytest.raises(RuntimeError, match="For integral input tensors"):
        torch.addr(m.long(), m[0].long(), m[0].long(), beta=0.5)

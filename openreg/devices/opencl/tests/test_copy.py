"""Copies on the device: every dtype, with strides, and what only the CPU converts."""

import pytest
import torch
from support import ALL, DEVICE, compare, native, sample


@pytest.mark.parametrize("dtype", ALL)
def test_a_copy_converts(dtype):
    x = sample((5, 7), dtype, low=0)
    compare(lambda x: (x.float().to(dtype), x.long().to(dtype)), x, exact=True)


@pytest.mark.parametrize("to", ALL)
def test_numbers_that_do_not_fit_exactly_are_rounded(to):
    x = torch.tensor([0.1, 1.5, 2.5, 1e-8, 1 + 2**-9, 1 + 2**-11, 3.99])
    compare(lambda x: x.to(to), x, exact=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_values_at_the_edge_of_reduced_floats(dtype):
    x = torch.tensor(
        [float("inf"), float("-inf"), float("nan"), 65519.0, 65520.0, 6e-8]
    )
    compare(lambda x: x.to(dtype).to(torch.float32), x, exact=True)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex128]
)
def test_strides_are_kept(dtype):
    x = sample((4, 6, 5), dtype)

    def copies(x):
        return (
            x.permute(2, 0, 1).contiguous(),
            x[:, ::2].clone(memory_format=torch.contiguous_format),
            x[1].t().contiguous(),
            x[0, :, :1].expand(6, 5).contiguous(),
            torch.empty_like(x).permute(1, 2, 0).copy_(x.permute(1, 2, 0)),
        )

    compare(copies, x, exact=True)


@pytest.mark.parametrize("dims", [1, 3, 5, 9])
def test_many_dimensions(dims):
    x = torch.arange(float(2**dims * 3)).view(*[2] * dims, 3)
    order = torch.randperm(dims + 1).tolist()
    compare(lambda x: x.permute(order).contiguous(), x, exact=True)


def test_a_slice_is_written_and_nothing_else():
    def write(x, y):
        x[1:3, ::2] = y
        return x

    compare(write, torch.zeros(4, 6), torch.arange(6.0).view(2, 3), exact=True)


def test_an_empty_tensor_and_one_number():
    compare(lambda x: x.t().contiguous(), torch.empty(0, 3), exact=True)
    compare(lambda x: x.to(torch.int64), torch.tensor(3.7), exact=True)


def test_a_large_tensor():
    compare(lambda x: x.t().contiguous(), torch.arange(1200 * 1001).view(1200, 1001))


def test_complex_numbers_are_converted_by_the_cpu():
    x = torch.randn(3, 4, dtype=torch.complex64)
    compare(lambda x: x.conj().clone(), x, native_only=False)
    compare(lambda x: x.to(torch.complex128), x, native_only=False)
    compare(lambda x: x.conj().imag.clone(), x, native_only=False)
    assert torch.ocl.fallback_counts()


@pytest.mark.parametrize("dtype", ALL)
def test_fill(dtype):
    compare(lambda x: x.fill_(3), torch.empty(5, 3).to(dtype), exact=True)
    compare(lambda x: x[:, ::2].fill_(1), torch.zeros(5, 3).to(dtype), exact=True)
    compare(lambda x: x.t()[1:].zero_(), torch.ones(5, 3).to(dtype), exact=True)


def test_fill_with_a_complex_number():
    x = torch.zeros(2, 3, dtype=torch.complex64)
    compare(lambda x: (x.fill_(2 - 1j).real.clone(), x[:, 1].fill_(3)), x, exact=True)


def test_fill_with_a_number_that_does_not_fit():
    with pytest.raises(RuntimeError, match="overflow"):
        torch.empty(3, dtype=torch.uint8, device=DEVICE).fill_(1000)


@pytest.mark.parametrize("dtype", ALL)
def test_cat(dtype):
    x, y = sample((2, 3), dtype), sample((2, 5), dtype)
    compare(lambda x, y: torch.cat([x, y], 1), x, y, exact=True)
    compare(lambda x, y: torch.cat([x.t(), y.t(), x.t()]), x, y, exact=True)
    compare(lambda x: torch.cat([x, torch.empty(0, dtype=x.dtype, device=x.device)]), x)


def test_cat_of_two_dtypes():
    x, y = sample((2, 3), torch.float16), sample((2, 3), torch.int64)
    compare(lambda x, y: torch.cat([x, y]), x, y, exact=True)


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.float32, torch.float64, torch.int8]
)
def test_ranges(dtype):
    for make in (
        lambda device: torch.arange(2, 9, 3, dtype=dtype, device=device),
        lambda device: torch.arange(1000, dtype=dtype, device=device)[:100],
        lambda device: torch.eye(4, 3, dtype=dtype, device=device),
    ):
        torch.testing.assert_close(native(make, DEVICE).cpu(), make("cpu"))


@pytest.mark.parametrize("steps", [0, 1, 2, 101])
def test_linspace(steps):
    def make(device, dtype=torch.float32):
        return torch.linspace(-2, 5, steps, dtype=dtype, device=device)

    torch.testing.assert_close(native(make, DEVICE).cpu(), make("cpu"))
    # The CPU rounds the distance of two numbers to float16 as well.
    half = native(make, DEVICE, dtype=torch.float16).cpu()
    torch.testing.assert_close(half, make("cpu").half())

# Tensors of a quantized dtype; see docs/operators/quantized-and-nested.md.
import math

import pytest
import torch
from torch.testing import assert_close
from while_held import returns_while_held

DTYPES = [torch.qint8, torch.quint8, torch.qint32]
SPECIAL = [math.nan, math.inf, -math.inf, 1e30, -1e30, 0.05, 0.15, 0.25]
pytestmark = pytest.mark.filterwarnings(
    "ignore:torch.quantize_per_tensor", "ignore:.*quantized"
)


def numbers(*shape):
    x = torch.randn(*shape) * 10
    x.view(-1)[: len(SPECIAL)] = torch.tensor(SPECIAL)
    return x


def agree(one, other):
    """Both have the same codes, parameters, order in memory and numbers."""
    assert one.device.type == "openreg" and one.stride() == other.stride()
    assert (one.dtype, one.qscheme()) == (other.dtype, other.qscheme())
    pairs = [(one.int_repr(), other.int_repr()), (one.dequantize(), other.dequantize())]
    if one.qscheme() == torch.per_tensor_affine:
        assert one.q_scale() == other.q_scale()
        assert one.q_zero_point() == other.q_zero_point()
    else:
        assert one.q_per_channel_axis() == other.q_per_channel_axis()
        pairs += [
            (one.q_per_channel_scales(), other.q_per_channel_scales()),
            (one.q_per_channel_zero_points(), other.q_per_channel_zero_points()),
        ]
    for result, expected in pairs:
        assert result.stride() == expected.stride()
        assert_close(result.cpu(), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_scale_for_a_tensor(no_fallback, dtype):
    x = numbers(3, 8)
    image = numbers(2, 3, 4, 5).to(memory_format=torch.channels_last)
    for given in (x, x.t(), x[:, ::2], x[:0], image):
        agree(
            torch.quantize_per_tensor(given.to("openreg"), 0.1, 2, dtype),
            torch.quantize_per_tensor(given, 0.1, 2, dtype),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_one_scale_for_each_channel(no_fallback, dtype, axis):
    x = numbers(3, 8)
    image = numbers(2, 3, 4, 5).to(memory_format=torch.channels_last)
    for given in (x, x.t(), x[:, :0], image):
        count = given.size(axis)
        scales, zeros = torch.rand(count) + 0.1, torch.arange(count)
        moved = [tensor.to("openreg") for tensor in (given, scales, zeros)]
        agree(
            torch.quantize_per_channel(*moved, axis, dtype),
            torch.quantize_per_channel(given, scales, zeros, axis, dtype),
        )


def test_parameters_in_tensors(no_fallback):
    x, scale, zero = numbers(3, 8), torch.tensor(0.1), torch.tensor(2)
    moved = [tensor.to("openreg:1") for tensor in (x, scale, zero)]
    result = torch.quantize_per_tensor(*moved, torch.qint8)
    assert result.device.index == 1
    agree(result, torch.quantize_per_tensor(x, scale, zero, torch.qint8))


def test_a_view_of_codes(no_fallback):
    q = torch.quantize_per_tensor(numbers(4, 8), 0.1, 2, torch.qint8)
    moved = q.to("openreg")
    for view in (lambda q: q[1:], lambda q: q[:, ::2], lambda q: q.view(8, 4)):
        codes = view(moved).int_repr()
        assert_close(codes.cpu(), view(q).int_repr(), rtol=0, atol=0)
        values = view(moved).dequantize()
        assert_close(values.cpu(), view(q).dequantize(), rtol=0, atol=0)


def test_zero_points_of_floating_point_fall_back():
    x, scales, zeros = torch.randn(3, 8), torch.rand(3) + 0.1, torch.rand(3)
    moved = [tensor.to("openreg") for tensor in (x, scales, zeros)]
    with torch.openreg.fallbacks() as counts:
        result = torch.quantize_per_channel(*moved, 0, torch.quint8)
        values = result.dequantize()
    assert dict(counts) == {"aten::quantize_per_channel": 1, "aten::dequantize.self": 1}
    expected = torch.quantize_per_channel(x, scales, zeros, 0, torch.quint8)
    assert_close(values.cpu(), expected.dequantize(), rtol=0, atol=0)


def test_two_codes_in_a_byte_stay_on_the_cpu():
    """Torch counts a byte for each element when it moves the tensor."""
    x = torch.randn(3, 8, device="openreg")
    with pytest.raises(RuntimeError, match="needs 24 bytes, but its storage has 12"):
        torch.quantize_per_tensor(x, 0.1, 2, torch.quint4x2)


def scales(device="openreg"):
    return torch.ones(3, device=device)


ERRORS = {
    "expected a Float tensor, but got Half": lambda x: torch.quantize_per_tensor(
        x.half(), 0.1, 2, torch.qint8
    ),
    "zero point 300 does not fit into QInt8": lambda x: torch.quantize_per_tensor(
        x, 0.1, 300, torch.qint8
    ),
    "zero point -1 does not fit into QUInt8": lambda x: torch.quantize_per_channel(
        x, scales(), -scales().long(), 0, torch.quint8
    ),
    "each element of dimension 1 of .3, 8.": lambda x: torch.quantize_per_channel(
        x, scales(), scales().long(), 1, torch.qint8
    ),
    "to be on the same device": lambda x: torch.quantize_per_channel(
        x, scales("cpu"), scales().long(), 0, torch.qint8
    ),
}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_come_before_the_launch(words):
    with pytest.raises(RuntimeError, match=words):
        ERRORS[words](torch.randn(3, 8, device="openreg"))
    torch.accelerator.synchronize()


def test_no_call_waits_for_the_device(no_fallback):
    x = torch.randn(3, 8, device="openreg")
    q = returns_while_held(lambda: torch.quantize_per_tensor(x, 0.1, 2, torch.qint8))
    returns_while_held(q.dequantize)
    returns_while_held(q.int_repr)


def test_a_kernel_does_not_warn_again(run_forked):
    program = """
        import torch, warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            q = torch.quantize_per_tensor(torch.ones(2).to(DEVICE), 0.1, 2, torch.qint8)
            q.dequantize()
            torch.accelerator.synchronize()
        print([str(each.message)[:30] for each in caught])
    """
    first, second = (
        run_forked(program.replace("DEVICE", f"{device!r}")).stdout
        for device in ("cpu", "openreg")
    )
    assert first == second
    assert "torch.quantize_per_tensor" in first

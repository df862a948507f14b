# Fake quantization, bit by bit as on the CPU; see docs/modules/quantization.md.

import math
import signal

import pytest
import torch
from against_cpu import check_against_cpu
from torch.testing import assert_close
from while_held import returns_while_held

pytestmark = pytest.mark.usefixtures("no_fallback")
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
EXACT = {"rtol": 0, "atol": 0, "equal_nan": True}
SPECIAL = [0.05, -0.05, 1e9, -1e9, math.inf, -math.inf, 12.6, 12.7, 12.75, -12.8]


def numbers(*shape, dtype=torch.float32):
    x = torch.randn(*shape) * 10
    x.view(-1)[: len(SPECIAL)] = torch.tensor(SPECIAL)[: x.numel()]
    return x.to(dtype)


def exactly(call, *tensors):
    """``call`` gives on the device what it gives on the CPU, bit by bit."""
    expected = call(*tensors)
    actual = call(*(tensor.to("openreg") for tensor in tensors))
    for one, other in zip(actual, expected, strict=True):
        assert one.device.type == "openreg" and one.stride() == other.stride()
        assert_close(one.cpu(), other, **EXACT)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("zero_point", [-128, 2, 127])
def test_one_scale_for_a_tensor(dtype, zero_point):
    def with_mask(x):
        op = torch.ops.aten.fake_quantize_per_tensor_affine_cachemask
        return op(x, 0.1, zero_point, -128, 127)

    x = numbers(7, 12, dtype=dtype)
    exactly(with_mask, x)
    exactly(with_mask, x.t())
    exactly(with_mask, x[::2, 1::3])
    exactly(with_mask, x[:0])
    exactly(with_mask, numbers(2, 3, 4, 5).to(memory_format=torch.channels_last))
    check_against_cpu(lambda x: per_tensor(x, 0.1, zero_point, -128, 127), x, **EXACT)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("zero", [torch.int32, torch.int64, torch.float32])
def test_parameters_in_tensors(dtype, zero):
    x, scale = numbers(5, 6, dtype=dtype), torch.tensor([0.1])
    name = "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
    op = getattr(torch.ops.aten, name)
    for enabled in (0, 1):
        on, zero_point = torch.tensor([enabled]), torch.tensor([3], dtype=zero)
        exactly(lambda *given: op(*given, -8, 7), x, scale, zero_point, on)
    exactly(lambda *given: op(*given, -8, 7), x[:0], scale, zero_point, on)
    exactly(lambda *given: op(*given, 0, 15), x, scale[0], zero_point[0], on[0])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("zero", [torch.int32, torch.float32, torch.float16])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_scale_for_each_channel(dtype, zero, axis):
    x = numbers(3, 4, 5, dtype=dtype)
    count = x.size(axis)
    scale, zero_point = torch.rand(count) + 0.05, torch.arange(count).to(zero)
    op = torch.ops.aten.fake_quantize_per_channel_affine_cachemask
    exactly(lambda *given: op(*given, axis, -8, 7), x, scale, zero_point)
    turned = x.transpose(0, 2)
    exactly(lambda *given: op(*given, 2 - axis, -8, 7), turned, scale, zero_point)
    check_against_cpu(
        lambda x: torch.fake_quantize_per_channel_affine(
            x, scale.to(x.device), zero_point.to(x.device), axis, -8, 7
        ),
        x,
        **EXACT,
    )


def test_a_scale_of_bfloat16():
    """The CPU's check takes it, and then its kernel raises an internal error."""
    x, zero = numbers(3, 4), torch.zeros(3, dtype=torch.int32)
    scale = (torch.rand(3) + 0.1).bfloat16()
    call = torch.fake_quantize_per_channel_affine
    with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
        call(x, scale, zero, 0, -8, 7)
    given = [tensor.to("openreg") for tensor in (x, scale, zero)]
    expected = call(x, scale.float(), zero, 0, -8, 7)
    assert_close(call(*given, 0, -8, 7).cpu(), expected, **EXACT)


@pytest.mark.parametrize("channels", [False, True])
def test_learnable_parameters(channels):
    """The gradients of the input are exact; those of the parameters are sums."""
    count = 6 if channels else 1

    def call(x, scale, zero_point):
        if channels:
            op = torch._fake_quantize_learnable_per_channel_affine
            return op(x, scale, zero_point, 1, -8, 7, 0.5)
        op = torch._fake_quantize_learnable_per_tensor_affine
        return op(x, scale, zero_point, -8, 7, 0.5)

    given = [torch.randn(4, 6, 5) * 5, torch.rand(count) + 0.5, torch.randn(count) * 3]
    check_against_cpu(call, *given, rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        exactly(lambda *given: [call(*given)], *given)
    nothing = [tensor.to("openreg").requires_grad_() for tensor in given]
    call(nothing[0][:, :, :0], *nothing[1:]).sum().backward()
    assert not any(tensor.grad.any() for tensor in nothing)  # on the CPU: the scale


# -- observing and rounding in one kernel --


def fused(x, state, observe=1, quantize=1, per_channel=False, axis=0, symmetric=False):
    flags = [torch.tensor([on], device=x.device) for on in (observe, quantize)]
    return torch._fused_moving_avg_obs_fq_helper(
        x, *flags, *state, 0.25, -8, 7, axis, per_channel, symmetric
    )


def statistics(count, device, zero=torch.int32):
    low, high = torch.full((count,), math.inf), torch.full((count,), -math.inf)
    made = [low, high, torch.ones(count), torch.zeros(count, dtype=zero)]
    return [tensor.to(device) for tensor in made]


def fused_as_on_the_cpu(batches, count, **options):
    """Each step gives the CPU's output, mask and statistics, bit by bit."""
    here, there = statistics(count, "openreg"), statistics(count, "cpu")
    for x in batches:
        results = fused(x.to("openreg"), here, **options)
        expected = fused(x, there, **options)
        for one, other in zip([*results, *here], [*expected, *there], strict=True):
            assert_close(one.cpu(), other, **EXACT)
        assert results[0].stride() == expected[0].stride()


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
def test_the_range_is_observed_and_used(per_channel, symmetric):
    shapes = [(3, 8), (3, 2, 4, 4)]
    options = {"per_channel": per_channel, "symmetric": symmetric}
    for shape in shapes:
        wide = [torch.randn(shape) * 10**power for power in range(-7, 8)]
        one_sided = [x.abs() for x in wide] + [-x.abs() for x in wide]
        constant = [torch.zeros(shape), torch.full(shape, 3.0)]
        for batches in (wide, one_sided, constant):
            fused_as_on_the_cpu(batches, 3 if per_channel else 1, **options)
    x = torch.randn(4, 3)
    fused_as_on_the_cpu([x.t(), x.t() * 2], 3 if per_channel else 1, **options)


@pytest.mark.parametrize("observe", [0, 1])
@pytest.mark.parametrize("quantize", [0, 1])
def test_observing_and_rounding_are_switched_off(observe, quantize):
    options = {"observe": observe, "quantize": quantize}
    for per_channel in (False, True):
        options["per_channel"] = per_channel
        batches = [torch.randn(3, 4), torch.randn(3, 4) * 3]
        fused_as_on_the_cpu(batches, 3 if per_channel else 1, **options)


def test_nan_is_not_hidden():
    """For each channel the CPU raises an error, which a kernel cannot do."""
    x = torch.randn(3, 4)
    x[1, 2] = math.nan
    fused_as_on_the_cpu([x, torch.randn(3, 4)], 1)
    fused_as_on_the_cpu([torch.full((3, 4), math.inf), torch.randn(3, 4)], 1)
    state = statistics(3, "openreg")
    result, _ = fused(x.to("openreg"), state, per_channel=True)
    assert state[2].isnan().tolist() == [False, True, False]
    assert result.isnan().any(1).tolist() == [False, True, False]


def test_statistics_get_their_size_in_the_first_step():
    x, here, there = torch.randn(3, 4), statistics(0, "openreg"), statistics(0, "cpu")
    for state in (here, there):  # as the modules of torch.ao.quantization begin
        state[2:] = [torch.ones(1).to(state[0]), torch.zeros(1).to(state[3])]
    results = fused(x.to("openreg"), here, per_channel=True)
    expected = fused(x, there, per_channel=True)
    for one, other in zip([*results, *here], [*expected, *there], strict=True):
        assert_close(one.cpu(), other, **EXACT)


def test_any_axis_can_be_that_of_the_channels():
    """The CPU takes only the first."""
    x = torch.randn(4, 3, 2)
    state, expected_state = statistics(3, "openreg"), statistics(3, "cpu")
    result, mask = fused(x.to("openreg"), state, per_channel=True, axis=1)
    expected = fused(x.transpose(0, 1).contiguous(), expected_state, per_channel=True)
    assert_close(result.cpu(), expected[0].transpose(0, 1), **EXACT)
    assert torch.equal(mask.cpu(), expected[1].transpose(0, 1))
    for one, other in zip(state, expected_state, strict=True):
        assert_close(one.cpu(), other, **EXACT)


def test_gradients_pass_where_the_codes_are_in_the_range():
    def call(x):
        state = statistics(1, x.device)
        narrow = x.detach() / 2
        fused(narrow, state)
        flags = [torch.tensor([on], device=x.device) for on in (0, 1)]
        return torch.fused_moving_avg_obs_fake_quant(x, *flags, *state, 0.25, -8, 7, 0)

    check_against_cpu(call, torch.randn(6, 7), **EXACT)


# -- errors, streams and devices --


ERRORS = {
    "quant_min, 7, must not be greater": lambda x: per_tensor(x, 0.1, 2, 7, -8),
    "zero point 200 must be between": lambda x: per_tensor(x, 0.1, 200, -8, 7),
    "scale must be one real number": lambda x: per_tensor(x, x[0], one(x), -8, 7),
    "zero_point must be one real": lambda x: per_tensor(x, one(x), x[0], -8, 7),
    "to be on the same device": lambda x: per_tensor(x, one(x).cpu(), one(x), -8, 7),
    "zero point 9 must be": lambda x: each(x, x[:, 0], x.new_full((3,), 9).int()),
    "for each element of dimension 1": lambda x: each(x, x[:, 0], x[:, 0], 1),
    "zero point of Int, Float or Half": lambda x: each(x, x[:, 0], x[:, 0].long()),
    "on the same device, but": lambda x: each(x, x[:, 0], x[:, 0].to("openreg:1")),
}
per_tensor = torch.fake_quantize_per_tensor_affine


def one(x):
    return torch.ones(1, device=x.device)


def each(x, scale, zero_point, axis=0):
    return torch.fake_quantize_per_channel_affine(x, scale, zero_point, axis, -8, 7)


@pytest.mark.parametrize("words", ERRORS)
def test_errors_come_before_the_launch(words):
    x = torch.randn(3, 4, device="openreg")
    with pytest.raises(RuntimeError, match=words):
        ERRORS[words](x)
    torch.accelerator.synchronize()  # no kernel had started


@pytest.mark.parametrize("dtype", [torch.int32, torch.complex64])
def test_a_dtype_that_no_kernel_rounds(dtype):
    x = torch.ones(3, 4, device="openreg").to(dtype)
    zero = torch.zeros(3, device="openreg")
    for call in (lambda: per_tensor(x, 0.1, 2, -8, 7), lambda: each(x, zero, zero)):
        with pytest.raises(NotImplementedError, match="is not implemented for dtype"):
            call()


FUSED_ERRORS = {
    "expected a Float tensor with elements, but got Half": (0, lambda x: x.half()),
    r"with elements, but got Float of \[0, 4\]": (0, lambda x: x[:0]),
    "running_min must have 1 elements, but has sizes .2": (1, lambda x: x.repeat(2)),
    "zero_point must have 1 elements": (4, lambda x: x[:0]),
    "expected Float for the minimum": (2, lambda x: x.double()),
    "integers for the zero point": (4, lambda x: x.float()),
    "same device": (3, lambda x: x.cpu()),
}


@pytest.mark.parametrize("words", FUSED_ERRORS)
def test_statistics_that_do_not_fit(words):
    """The CPU checks only some of them; see the next test."""
    place, change = FUSED_ERRORS[words]
    given = [torch.randn(3, 4, device="openreg"), *statistics(1, "openreg")]
    given[place] = change(given[place])
    with pytest.raises(RuntimeError, match=words):
        fused(given[0], given[1:])


def test_the_cpu_writes_to_a_running_minimum_without_elements(run_forked):
    """So a backend that falls back does; the operator does not check the size."""
    process = run_forked("""
        import torch
        one, none = torch.ones(1), torch.ones(0)
        torch._fused_moving_avg_obs_fq_helper(
            torch.randn(3, 4), one, one, none, none, one, one.int(), 0.1, -8, 7, 0
        )
    """)
    assert process.returncode == -signal.SIGSEGV


def test_no_call_waits_for_the_device():
    x = torch.randn(3, 4, device="openreg")
    one, zero = torch.ones(1, device="openreg"), torch.zeros(1, device="openreg")
    state, channels = statistics(1, "openreg"), statistics(3, "openreg")
    scales, options = torch.ones(3, device="openreg"), (0.25, -8, 7, 0)
    op = torch._fused_moving_avg_obs_fq_helper
    calls = [
        lambda: per_tensor(x, 0.1, 0, -8, 7),
        lambda: per_tensor(x, one, zero, -8, 7),
        lambda: each(x, scales, scales),
        lambda: op(x, one, one, *state, *options),
        lambda: op(x, one, one, *channels, *options, True),
    ]
    for call in calls:
        returns_while_held(call)


def test_the_other_device():
    x = torch.randn(3, 4)
    state, there = statistics(1, "openreg:1"), statistics(1, "cpu")
    result, _ = fused(x.to("openreg:1"), state)
    assert result.device.index == 1
    assert_close(result.cpu(), fused(x, there)[0], **EXACT)

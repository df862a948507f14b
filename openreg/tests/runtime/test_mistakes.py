# What happens to an ordinary mistake of a program; see docs/runtime/errors.md.
"""Each is refused on the host, in the CPU's words, gives a value, or is a fault."""

import warnings

import pytest
import torch
from against_cpu import same, same_error
from torch.nn import functional as F

simulator = torch.openreg.simulator
ones = torch.ones

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def put(x, index, value):
    x[index] = value
    return x


def longs(*numbers, device):
    return torch.tensor(numbers, dtype=torch.int64, device=device)


def mask(*flags, device, dtype=torch.bool):
    return torch.tensor(flags, device=device).to(dtype)


def step(device, *gradients, parameter=None):
    """Take a step of SGD."""
    parameter = ones(2, device=device) if parameter is None else parameter
    options = {"weight_decay": 0, "momentum": 0, "lr": 1, "dampening": 0}
    options |= {"nesterov": False, "maximize": False, "is_first_step": False}
    torch._fused_sgd_([parameter], list(gradients), [], **options)


REFUSED = {
    "uint8 mask, number": lambda d: put(
        ones(3, device=d), mask(1, 0, 1, device=d, dtype=torch.uint8), 2.0
    ),
    "mask of another size": lambda d: put(ones(3, device=d), mask(1, 0, device=d), 2.0),
    "values for a mask": lambda d: put(
        ones(3, device=d), mask(1, 0, 1, device=d), ones(3, device=d)
    ),
    "mask of another size, values": lambda d: put(
        ones(3, device=d), mask(1, 0, device=d), ones(2, device=d)
    ),
    "too many indices": lambda d: ones(3, device=d).index_put_(
        (longs(0, device=d), longs(0, device=d)), ones(1, device=d)
    ),
    "indices of other sizes, number": lambda d: put(
        ones(3, 3, device=d), ([0, 1], [0, 1, 2]), 0
    ),
    "indices of other sizes, read": lambda d: ones(3, 3, device=d)[[0, 1], [0, 1, 2]],
    "float index": lambda d: ones(3, device=d).index_put_(
        (ones(1, device=d),), ones(1, device=d)
    ),
    "dtype of values": lambda d: put(
        ones(2, 2, dtype=torch.float64, device=d),
        (slice(None), [1]),
        torch.ones(2, 1, dtype=torch.int32, device=d),
    ),
    "shape before dtype": lambda d: put(
        ones(2, 2, dtype=torch.float64, device=d),
        (slice(None), [1]),
        torch.ones(3, 1, dtype=torch.int32, device=d),
    ),
    "index into nothing": lambda d: put(ones(0, 3, device=d), [0], 1.0),
    "values that overlap": lambda d: (
        lambda x: x.index_put_((longs(0, 1, 2, device=d),), x[1:4])
    )(ones(4, device=d)),
    "index that overlaps": lambda d: (
        lambda x: x.index_put_((x[:2],), longs(1, 2, device=d))
    )(longs(0, 1, 2, device=d)),
    "put that overlaps": lambda d: (lambda x: x.put_(longs(0, 1, 2, device=d), x[1:4]))(
        ones(4, device=d)
    ),
    "number that does not fit": lambda d: put(
        ones(3, dtype=torch.uint8, device=d), mask(1, 0, 1, device=d), 300
    ),
    "complex number": lambda d: put(ones(3, device=d), mask(1, 0, 1, device=d), 1j),
    "negative repeats": lambda d: torch.repeat_interleave(longs(2, -1, device=d)),
    "dtypes of batch_norm": lambda d: F.batch_norm(
        ones(2, 3, dtype=torch.float64, device=d), ones(3, device=d), ones(3, device=d)
    ),
    "weight of batch_norm": lambda d: F.batch_norm(
        ones(2, 3, device=d),
        ones(3, device=d),
        ones(3, device=d),
        ones(4, device=d),
        training=True,
    ),
    "integers in batch_norm": lambda d: F.batch_norm(
        longs(1, 2, device=d).reshape(2, 1), None, None, training=True
    ),
    "dtype of a statistic of batch_norm": lambda d: F.batch_norm(
        ones(2, 3, device=d),
        ones(3, dtype=torch.float64, device=d),
        ones(3, device=d),
        ones(3, device=d),
        training=True,
    ),
    "bias of linear": lambda d: F.linear(
        ones(2, 3, device=d), ones(5, 3, device=d), ones(7, device=d)
    ),
    "sum of addmm": lambda d: torch.addmm(
        ones(3, 3, device=d), ones(2, 3, device=d), ones(3, 5, device=d)
    ),
    "index_select from nothing": lambda d: ones(0, 2, device=d).index_select(
        0, longs(0, device=d)
    ),
    "dtype of a gradient": lambda d: step(d, ones(2, dtype=torch.float64, device=d)),
    "integer parameters": lambda d: step(
        d, longs(1, 2, device=d), parameter=longs(1, 2, device=d)
    ),
    "scale of two numbers": lambda d: torch._amp_foreach_non_finite_check_and_unscale_(
        [ones(2, device=d)], ones(2, device=d), ones(1, device=d)
    ),
    "integers to unscale": lambda d: torch._amp_foreach_non_finite_check_and_unscale_(
        [longs(2, device=d)], ones(1, device=d), ones(1, device=d)
    ),
    "growth tracker": lambda d: torch._amp_update_scale_(
        ones(1, device=d), ones(1, device=d), ones(1, device=d), 2.0, 0.5, 10
    ),
    "linspace of -1 steps": lambda d: torch.linspace(0, 1, -1, device=d),
    "arange into overlap": lambda d: torch.arange(
        3, out=torch.ones(1, device=d).expand(3)
    ),
    "probabilities": lambda d: torch.bernoulli(ones(3, device=d), 2.0),
    "negative weights": lambda d: torch.multinomial(-ones(3, device=d), 1),
    "negative counts": lambda d: torch.bincount(longs(1, -1, device=d)),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_it_is_refused_before_the_launch_in_the_words_of_the_cpu(mistake):
    same_error(REFUSED[mistake], (RuntimeError, IndexError))


def test_a_gradient_of_another_size_is_refused():
    """The CPU's kernel reads beyond its end."""
    with pytest.raises(RuntimeError, match=r"size \[2\] has a gradient .* size \[1\]"):
        step("openreg", ones(1, device="openreg"))
    with pytest.raises(RuntimeError, match="1 parameters, but a list of 2 tensors"):
        step("openreg", *[ones(2, device="openreg")] * 2)


# Only the device has these numbers, and CUDA also asserts on the device.
FAULTS = {
    "gather": lambda d: ones(3, device=d).gather(0, longs(3, device=d)),
    "scatter": lambda d: ones(3, device=d).scatter(0, longs(3, device=d), 1.0),
    "take": lambda d: ones(3, device=d).take(longs(3, device=d)),
    "put": lambda d: ones(3, device=d).put_(longs(3, device=d), ones(1, device=d)),
    "index": lambda d: ones(3, device=d)[longs(-4, device=d)],
    "index_put": lambda d: put(ones(3, device=d), longs(3, device=d), 1.0),
    "index_select": lambda d: ones(3, device=d).index_select(0, longs(3, device=d)),
    "index_add": lambda d: ones(3, device=d).index_add(
        0, longs(3, device=d), ones(1, device=d)
    ),
    "index_copy": lambda d: ones(3, device=d).index_copy(
        0, longs(3, device=d), ones(1, device=d)
    ),
    "index_fill": lambda d: ones(3, device=d).index_fill(0, longs(3, device=d), 1.0),
    "embedding": lambda d: F.embedding(longs(3, device=d), ones(3, 2, device=d)),
    "nll_loss": lambda d: F.nll_loss(ones(1, 3, device=d), longs(3, device=d)),
    "cross_entropy": lambda d: F.cross_entropy(
        ones(1, 3, device=d), longs(3, device=d)
    ),
    "one_hot, too few classes": lambda d: F.one_hot(longs(3, device=d), 3),
    "one_hot, negative": lambda d: F.one_hot(longs(-1, device=d), 3),
    "max_unpool2d": lambda d: F.max_unpool2d(
        ones(1, 1, 1, 1, device=d), longs(9, device=d).reshape(1, 1, 1, 1), 2
    ),
}


@pytest.mark.parametrize("operator", FAULTS)
def test_an_index_out_of_range_stops_the_device_until_it_is_reset(operator):
    with pytest.raises((RuntimeError, IndexError)):
        FAULTS[operator]("cpu")
    try:
        with pytest.raises(torch.AcceleratorError) as error:
            FAULTS[operator]("openreg")
            torch.accelerator.synchronize()
    finally:
        simulator.reset()
    assert "simulator.reset()" in str(error.value)  # how to go on
    assert error.value.error_code == 719
    assert (ones(2, device="openreg") + 1).tolist() == [2, 2]


DIVISIONS = {
    "//": lambda a, b: a // b,
    "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}
REMAINDERS = {"%": lambda a, b: a % b, "fmod": torch.fmod}


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", [*DIVISIONS, *REMAINDERS])
def test_integers_divided_by_zero_have_a_value(name, dtype):
    numbers = torch.tensor([7, 100, 0], dtype=dtype)
    by = torch.tensor([0, 3, 0], dtype=dtype)
    operator = (DIVISIONS | REMAINDERS)[name]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        operator(numbers, by)
    all_bits = -1 if dtype.is_signed else 255
    expected = [all_bits, 33, all_bits] if name in DIVISIONS else [7, 1, 0]
    x = numbers.to("openreg")
    assert operator(x, by.to("openreg")).tolist() == expected
    if name not in DIVISIONS:
        assert operator(x, 0).tolist() == numbers.tolist()
    x %= 0
    assert x.tolist() == numbers.tolist()


@pytest.mark.parametrize("dtype", [t for t in INTEGERS if t.is_signed], ids=str)
def test_the_smallest_integer_divided_by_minus_one_ends_nothing(dtype):
    smallest = torch.iinfo(dtype).min
    x = torch.tensor([smallest, smallest, 5], dtype=dtype, device="openreg")
    by = torch.tensor([-1, 1, -1], dtype=dtype, device="openreg")
    for divide in DIVISIONS.values():
        assert divide(x, by).tolist() == [smallest, smallest, -5]
    for remainder in REMAINDERS.values():
        assert remainder(x, by).tolist() == [0, 0, 0]


EXPANDED = {
    "index_put_": lambda x, d: x.index_put_(
        (longs(0, 1, device=d),), ones(2, device=d)
    ),
    "x[i] = v": lambda x, d: put(x, longs(1, device=d), 2.0),
    "x[mask] = v": lambda x, d: put(x, mask(0, 1, 0, device=d), 2.0),
    "masked_fill_": lambda x, d: x.masked_fill_(mask(0, 1, 0, device=d), 2.0),
    "index_fill_": lambda x, d: x.index_fill_(0, longs(1, device=d), 2.0),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_tensors_compute_and_warn(name):
    said = {}

    def call(device):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = EXPANDED[name](torch.zeros(1, device=device).expand(3), device)
            torch.openreg.synchronize()  # also returns what a kernel warned of
        texts = [str(warning.message) for warning in caught]
        said[device] = [text.partition(" (Triggered")[0] for text in texts]
        return result

    same(call)
    assert said["openreg"] == said["cpu"]
    assert said["cpu"]


BYTES = {
    "read": lambda d, m: ones(3, device=d)[m],
    "values": lambda d, m: put(ones(3, device=d), m, torch.zeros(2, device=d)),
    "beside a number": lambda d, m: put(
        ones(3, 3, device=d), (m, longs(1, 2, device=d)), 5.0
    ),
}


@pytest.mark.parametrize("name", BYTES)
def test_a_mask_of_bytes_warns_once_in_the_call_that_has_it(name):
    with pytest.warns(UserWarning, match="torch.uint8"):
        expected = BYTES[name]("cpu", mask(1, 0, 1, device="cpu", dtype=torch.uint8))
    bytes_there = mask(1, 0, 1, device="openreg", dtype=torch.uint8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = BYTES[name]("openreg", bytes_there)
        assert ["torch.uint8" in str(w.message) for w in caught] == [True]
        torch.accelerator.synchronize()
        assert result.tolist() == expected.tolist()
        assert len(caught) == 1


def test_one_value_for_a_mask_waits_for_nothing():
    x, m = torch.zeros(3, device="openreg"), mask(1, 0, 1, device="openreg")
    torch.accelerator.synchronize()
    with simulator.hold():
        x[m] = 2.0
        x[None, m] = ones(1, device="openreg")
        assert not torch.accelerator.current_stream().query()
    assert x.tolist() == [1, 0, 1]


def test_arange_keeps_a_tensor_of_the_right_number_of_elements():
    def call(device):
        return torch.arange(6, out=torch.zeros(3, 4, device=device)[:, 1:3])

    same(call)
    for device in ("cpu", "openreg"):
        with pytest.warns(UserWarning, match="computed number of elements 6"):
            out = torch.arange(6, out=torch.zeros(2, 2, device=device))
        assert out.shape == (6,)


def test_a_transformer_layer_takes_an_empty_batch():
    layer = torch.nn.TransformerEncoderLayer(512, 8, batch_first=True).eval()
    with torch.no_grad():
        expected = layer(torch.ones(0, 5, 512))
        result = layer.to("openreg")(torch.ones(0, 5, 512, device="openreg"))
    assert result.shape == expected.shape
    assert result.device.type == "openreg"

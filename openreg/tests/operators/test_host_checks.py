# Mistakes that the host finds before a launch; see
# docs/operators/meta-functions.md.
import pytest
import torch
import torch.nn.functional as F

openreg = torch.openreg


def error_of(call, device):
    with pytest.raises(RuntimeError) as caught:
        call(device)
        openreg.synchronize()
    return str(caught.value).splitlines()[0]


def empty_batch(device):
    ones = torch.ones(5, device=device)
    x = torch.empty(0, 5, 5, device=device)
    torch.native_batch_norm(x, ones, ones, ones, ones, True, 0.1, 1e-5)


def weight_of_a_loss(device):
    x = torch.full((5, 5), 0.5, device=device)
    weight = torch.ones(1, 5, 5, device=device)
    F.binary_cross_entropy(x, x, weight, reduction="none")


def overlapping_output(device):
    x = torch.ones(3, 4, dtype=torch.complex64, device=device)
    torch.var(x, 1, out=torch.ones(1, device=device).expand(3))


def overlapping_weight(device):
    weight = torch.ones(4, 1, device=device).expand(4, 3)
    F.embedding(torch.tensor([0], device=device), weight, max_norm=0.1)


def samples_of_one_channel(device):
    x, samples = torch.ones(1, 2, 5, 5), torch.full((1, 3, 2), 0.5)
    F.fractional_max_pool2d(
        x.to(device), 2, output_size=3, _random_samples=samples.to(device)
    )


def samples_of_two_numbers(device):
    x, samples = torch.ones(1, 2, 5, 5, 5), torch.full((1, 2, 2), 0.5)
    F.fractional_max_pool3d(
        x.to(device), 2, output_size=3, _random_samples=samples.to(device)
    )


def stride_of_64_bits(device):
    F.max_pool3d(torch.ones(1, 1, 3, 3, 3, device=device), 1, stride=2**40)


def target_of_integers(device):
    x = torch.zeros(3, device=device, requires_grad=True)
    F.huber_loss(x, torch.tensor([1, 2, 3], device=device)).backward()


def bias_of_another_dtype(device):
    x = torch.ones(2, 3, dtype=torch.bfloat16, device=device, requires_grad=True)
    bias = torch.ones(3, device=device)
    torch.native_layer_norm(x, [3], None, bias, 1e-5)[0].sum().backward()


def too_large_to_count(device):
    torch.bincount(torch.tensor([2**63 - 1], device=device))


def value_of_dimensions(device):
    torch.zeros(3, device=device).fill_(torch.ones(3, device=device))


def second_output_over_the_input(call):
    """Return what calls ``call(matrix, first, second)``."""

    def over(device):
        x = torch.arange(16, device=device)
        fresh = torch.empty(4, 1, dtype=torch.int64, device=device)
        call(x.view(4, 4), fresh, x[12:16].view(4, 1))

    return over


@pytest.mark.parametrize(
    "call",
    [
        *(empty_batch, weight_of_a_loss, overlapping_output, overlapping_weight),
        *(samples_of_one_channel, samples_of_two_numbers, stride_of_64_bits),
        *(target_of_integers, bias_of_another_dtype, too_large_to_count),
        value_of_dimensions,
        *map(
            second_output_over_the_input,
            (
                lambda x, a, b: torch.aminmax(x, dim=1, keepdim=True, out=(a, b)),
                lambda x, a, b: torch.max(x, 1, keepdim=True, out=(a, b)),
                lambda x, a, b: torch.topk(x, 1, 1, out=(a, b)),
                lambda x, a, b: torch.mode(x, 1, keepdim=True, out=(a, b)),
            ),
        ),
    ],
)
def test_the_words_are_those_of_the_cpu(call):
    assert error_of(call, "openreg") == error_of(call, "cpu")
    assert torch.ones(1, device="openreg").item() == 1  # the device is not stopped


def test_a_maximum_is_not_cut_to_an_integer():
    out = torch.empty((), dtype=torch.int64, device="openreg")
    with pytest.raises(RuntimeError, match=r"Float can.t be cast to .* type Long"):
        torch.max(torch.ones(2, device="openreg"), out=out)


def gradient_of_another_dtype(backward):
    x = torch.ones(2, 3, device="openreg")
    row = x[0].clone()
    every = [True, True, True]
    return {
        "layer": lambda: backward(
            x.double(), x, [3], x[:, :1], x[:, :1], row, row, every
        ),
        "group": lambda: backward(
            x.double(), x, x[:, :1], x[:, :1], row, 2, 3, 1, 1, every
        ),
        "batch": lambda: backward(
            x.double(), x, row, row, row, row, row, True, 1e-5, every
        ),
    }


@pytest.mark.parametrize("layer", ["layer", "group", "batch"])
def test_a_gradient_of_another_dtype_does_not_stop_the_device(layer):
    backward = getattr(torch.ops.aten, f"native_{layer}_norm_backward")
    with pytest.raises(RuntimeError, match=r"dtype Float and .* one of dtype Double"):
        gradient_of_another_dtype(backward)[layer]()
    assert torch.ones(1, device="openreg").item() == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: x.index_put_((x.long(),), y),
        lambda x, y: torch.binomial(x, y),
        lambda x, y: torch.ops.aten.native_dropout_backward(x, y.bool(), 2.0),
        lambda x, y: torch.ops.aten.rrelu_with_noise(x, y),
    ],
)
def test_tensors_of_two_devices(call):
    x, y = torch.ones(3, device="openreg:0"), torch.ones(3, device="openreg:1")
    with pytest.raises(RuntimeError, match="to be on the same device"):
        call(x, y)


def test_indices_and_one_value_may_come_from_any_device():
    x, index = torch.zeros(3, device="openreg:0"), torch.tensor([2], device="openreg:1")
    one = torch.ones((), device="openreg:1")
    with openreg.simulator.hold(openreg.current_stream(1)):
        index.fill_(1)  # not before the stream of its device goes on
        one.fill_(7)
    x.index_put_((index,), one)
    assert x.tolist() == [0, 7, 0]


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize(
    "call",
    [
        lambda x, generator: x.random_(generator=generator),
        lambda x, generator: torch.bernoulli(x, generator=generator),
        lambda x, generator: torch.poisson(x, generator=generator),
        lambda x, generator: x.normal_(generator=generator),
    ],
)
def test_a_generator_of_the_device_makes_no_numbers_for_the_cpu(call, shape):
    with pytest.raises(RuntimeError, match=r"on the openreg device.*with .to"):
        call(torch.zeros(shape), torch.Generator("openreg"))


def test_a_wrong_size_of_repeated_elements_is_a_fault():
    x = torch.tensor([1, 2], device="openreg")
    with pytest.raises(torch.AcceleratorError, match="does not match required size"):
        x.repeat_interleave(x, output_size=4).cpu()
    openreg.simulator.reset()
    assert x.repeat_interleave(x, output_size=3).tolist() == [1, 2, 2]


@pytest.mark.parametrize("device", ["cpu", "openreg"])
@pytest.mark.parametrize(
    ("sizes", "error"), [((0,), IndexError), ((0, 5), RuntimeError)]
)
def test_an_index_into_nothing(sizes, error, device):
    x, index = torch.zeros(sizes, device=device), torch.tensor([0], device=device)
    with pytest.raises(error, match=r"index out of range|should be positive") as caught:
        x.index_select(0, index)
    assert caught.type is error


def test_evaluation_of_an_empty_batch():
    layer = torch.nn.BatchNorm1d(5).to("openreg").eval()
    assert layer(torch.empty(0, 5, 5, device="openreg")).shape == (0, 5, 5)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.bool, torch.float32])
def test_without_elements_any_dtype_will_do(dtype):
    x = torch.ones(0, 2).to(dtype).to("openreg")
    y = torch.ones(2, 3).to(dtype).to("openreg")
    assert x.mm(y[:, :0]).shape == (0, 0)
    assert x.long().softmax(0, torch.float32).shape == (0, 2)
    if dtype != torch.float32:
        with pytest.raises(NotImplementedError, match=r"not implemented for '(UI|Bo)"):
            y.mm(y.mT)


@pytest.mark.parametrize("dtype", [torch.half, torch.float])
@pytest.mark.parametrize("name", ["_softmax", "_log_softmax"])
def test_a_softmax_that_converts_is_refused_before_the_launch(name, dtype):
    operator = getattr(torch.ops.aten, name)
    x = torch.ones(2, 3, dtype=dtype, device="openreg")
    with pytest.raises(RuntimeError, match="half_to_float is not supported"):
        operator(x, -1, True)
    torch.accelerator.synchronize()  # the device is not stopped
    assert torch.equal(operator(x, -1, False).cpu(), operator(x.cpu(), -1, False))


def test_logit_of_integers_computes_in_the_default_dtype_of_its_launch():
    x = torch.zeros(4, dtype=torch.long, device="openreg")
    stream = openreg.current_stream()
    with openreg.simulator.hold(stream):
        torch.set_default_dtype(torch.float64)
        try:
            y = torch.logit(x, 1e-10)
        finally:
            torch.set_default_dtype(torch.float32)
    expected = torch.logit(torch.zeros(4, dtype=torch.float64), 1e-10)
    torch.testing.assert_close(y.cpu(), expected)

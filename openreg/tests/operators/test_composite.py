# What no fallback covers: convolutions; see docs/operators/composite.md.
import pytest
import torch
import torch.nn.functional as F
from against_cpu import check_against_cpu, leaf, losses_of_training, of_sums
from torch.testing import assert_close

FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@pytest.fixture(autouse=True)
def _no_fallback_left_behind():
    torch.openreg.set_fallback_mode("allow")
    torch.openreg.reset_fallback_counts()


# -- convolution --

CONVOLUTIONS = [
    {"stride": 1},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2, "padding": 1},
    {"groups": 4, "stride": 2},
]
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
CONV_TRANSPOSE = {
    1: F.conv_transpose1d,
    2: F.conv_transpose2d,
    3: F.conv_transpose3d,
}


def conv_arguments(dims, options, dtype=torch.float32, transposed=False, batch=2):
    groups = options.get("groups", 1)
    x = torch.randn(batch, 4, *[7] * dims, dtype=dtype)
    weight = torch.randn(4, 4 // groups, *[3] * dims, dtype=dtype)
    bias = torch.randn(4 // groups * groups if transposed else 4, dtype=dtype)
    return x, weight, bias


@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_convolutions_and_their_gradients_are_those_of_the_cpu(
    dims, transposed, options
):
    function = (CONV_TRANSPOSE if transposed else CONV)[dims]
    x, weight, bias = conv_arguments(dims, options, transposed=transposed)
    near = of_sums(torch.float32)
    check_against_cpu(
        lambda x, w, b: function(x, w, b, **options), x, weight, bias, **near
    )
    check_against_cpu(lambda x, w: function(x, w, **options), x, weight, **near)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function", [F.conv2d, F.conv_transpose2d])
def test_convolutions_take_every_floating_dtype(function, dtype):
    x, weight, bias = conv_arguments(2, {}, dtype)
    check_against_cpu(function, x, weight, bias, **of_sums(dtype))


def test_convolutions_take_integers_and_complex_numbers():
    x = torch.randint(-5, 5, (2, 4, 5, 5))
    weight = torch.randint(-5, 5, (3, 4, 2, 2))
    for dtype in (torch.int64, torch.int32, torch.uint8):
        a, b = x.to(dtype), weight.to(dtype)
        actual = F.conv2d(a.to("openreg"), b.to("openreg"))
        assert_close(actual.cpu(), F.conv2d(a, b))
    x, weight, bias = conv_arguments(2, {}, torch.complex64)
    check_against_cpu(F.conv2d, x, weight, bias)


def test_output_padding_and_unequal_arguments():
    x, weight, bias = conv_arguments(2, {}, transposed=True)
    check_against_cpu(
        lambda x, w, b: F.conv_transpose2d(
            x, w, b, stride=(3, 2), padding=(1, 0), output_padding=(2, 1)
        ),
        x,
        weight,
        bias,
    )
    weight = torch.randn(4, 4, 3, 2)
    check_against_cpu(
        lambda x, w, b: F.conv2d(x, w, b, (1, 2), (0, 3), (2, 1)), x, weight, bias
    )


@pytest.mark.parametrize("padding", ["same", "valid"])
def test_padding_by_name(padding):
    x, weight, bias = conv_arguments(2, {})
    check_against_cpu(
        lambda x, w, b: F.conv2d(x, w, b, padding=padding), x, weight, bias
    )


@pytest.mark.parametrize("batch", [0, None])
def test_empty_and_missing_batches(batch):
    x, weight, bias = conv_arguments(2, {}, batch=batch or 1)
    x = x[0] if batch is None else x[:0]
    check_against_cpu(F.conv2d, x, weight, bias)


def test_views_and_channels_last():
    x, weight, bias = conv_arguments(2, {})
    check_against_cpu(
        lambda x, w, b: F.conv2d(x.transpose(2, 3)[:, :, ::2], w.flip(2), b),
        x,
        weight,
        bias,
    )
    for dims, layout in ((2, torch.channels_last), (3, torch.channels_last_3d)):
        x, weight, bias = conv_arguments(dims, {})

        def convolve(x, w, b, dims=dims, layout=layout):
            return CONV[dims](x.contiguous(memory_format=layout), w, b, padding=1)

        check_against_cpu(convolve, x, weight, bias)
        y = convolve(x.to("openreg"), weight.to("openreg"), bias.to("openreg"))
        assert y.is_contiguous()  # see docs/ship/known-gaps-compiler.md


@pytest.mark.parametrize("mask", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)])
def test_only_the_gradients_asked_for_are_made(mask):
    x, weight, _ = conv_arguments(2, {})
    grad = torch.randn(2, 4, 5, 5)

    def backward(device):
        return torch.ops.aten.convolution_backward(
            *(t.to(device) for t in (grad, x, weight)),
            *([4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
            [bool(wanted) for wanted in mask],
        )

    results = backward("openreg")
    assert [result is not None for result in results] == [bool(one) for one in mask]
    for actual, expected in zip(results, backward("cpu"), strict=True):
        if actual is not None:
            assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("transposed", [False, True])
def test_first_and_second_derivatives_of_convolutions(transposed):
    function = F.conv_transpose2d if transposed else F.conv2d
    arguments = (
        torch.randn(1, 2, 4, 4, dtype=torch.float64),
        torch.randn(2, 2, 2, 2, dtype=torch.float64),
        torch.randn(2, dtype=torch.float64),
    )
    leaves = tuple(leaf(x, "openreg") for x in arguments)

    def call(x, w, b):
        return function(x, w, b, stride=2, padding=1)

    assert torch.autograd.gradcheck(call, leaves)
    assert torch.autograd.gradgradcheck(call, leaves)


def test_a_convolution_by_its_own_name_has_gradients():
    x, weight, bias = conv_arguments(2, {})
    rest = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    leaves = [leaf(t, "openreg") for t in (x, weight, bias)]
    torch.ops.aten.convolution_overrideable(*leaves, *rest).sum().backward()
    expected = [leaf(t, "cpu") for t in (x, weight, bias)]
    F.conv2d(*expected).sum().backward()
    for actual, other in zip(leaves, expected, strict=True):
        assert_close(actual.grad.cpu(), other.grad)


def convolve_by_name(x, w, b=None, stride=1, pad=0, dil=1, transposed=False, out=0):
    dims = x.dim() - 2
    return torch.ops.aten.convolution_overrideable(
        x,
        w,
        b,
        [stride] * dims,
        [pad] * dims,
        [dil] * dims,
        transposed,
        [out] * dims,
        1,
    )


X, W = torch.ones(1, 2, 4, 4), torch.ones(2, 2, 2, 2)
MISTAKES = {
    "to have 2 channels": lambda d: F.conv2d(X[:, :1].to(d), W.to(d)),
    "greater than actual input": lambda d: F.conv2d(X[..., :1].to(d), W.to(d)),
    "non-positive groups": lambda d: F.conv2d(X.to(d), W.to(d), groups=0),
    "expected bias to be 1-dimensional": lambda d: F.conv2d(
        X.to(d), W.to(d), torch.ones(3, device=d)
    ),
    "should be the same|expected scalar type": lambda d: F.conv2d(
        X.to(d), W.to(d).half()
    ),
    "not implemented for 'Bool'": lambda d: torch.conv2d(
        X.to(d).bool(), W.to(d).bool()
    ),
    "must be smaller than either stride": lambda d: F.conv_transpose2d(
        X.to(d), W.to(d), output_padding=1
    ),
    "Output size is too small": lambda d: F.conv_transpose2d(
        X.to(d).double(), W.to(d).double(), padding=4
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_refused_on_the_host_as_on_the_cpu(message):
    for device in ("cpu", "openreg"):
        with pytest.raises((RuntimeError, ValueError), match=message) as error:
            MISTAKES[message](device)
        assert not isinstance(error.value, torch.AcceleratorError)
    torch.openreg.synchronize()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: convolve_by_name(X.to("openreg"), W), "same device"),
        (lambda: F.conv2d(X.to("openreg"), W), "same device"),
        (lambda: F.conv2d(X.to("openreg:1"), W.to("openreg:0")), "same device"),
        (
            lambda: convolve_by_name(X[0, 0].to("openreg"), W[0, 0].to("openreg")),
            "the same number of dimensions, 3 to 5",
        ),
        (
            lambda: convolve_by_name(X.to("openreg"), W.to("openreg"), stride=0),
            "stride must be at least 1",
        ),
        (
            lambda: convolve_by_name(X.to("openreg"), W.to("openreg"), pad=-1),
            "padding must be at least 0",
        ),
        (
            lambda: convolve_by_name(X.to("openreg"), W.to("openreg"), dil=9),
            "Output size is too small",
        ),
        (
            lambda: convolve_by_name(X[:0].to("openreg"), W.to("openreg")),
            "must not be empty",
        ),
        (
            lambda: torch.ops.aten.convolution_backward_overrideable(
                X.to("openreg"),
                X.to("openreg"),
                W.to("openreg"),
                *([1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True]),
            ),
            r"expected grad_output of size \[1, 2, 3, 3\]",
        ),
    ],
)
def test_calls_by_name_are_checked_too(call, message):
    with pytest.raises((RuntimeError, NotImplementedError), match=message) as error:
        call()
    assert not isinstance(error.value, torch.AcceleratorError)
    torch.openreg.synchronize()
    assert_close((X.to("openreg") + 1).cpu(), X + 1)


def test_a_convolution_is_enqueued_and_does_not_fall_back():
    x, weight, bias = (t.to("openreg") for t in conv_arguments(2, {}))
    torch.openreg.set_fallback_mode("error")
    y = F.conv2d(x, weight, bias)
    assert_close(y.cpu(), F.conv2d(x.cpu(), weight.cpu(), bias.cpu()))


@pytest.mark.parametrize(
    "layer",
    [
        lambda: torch.nn.Conv2d(3, 4, 3, padding_mode="circular", padding=1),
        lambda: torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.ConvTranspose2d(8, 2, 2, stride=2),
        ),
    ],
)
def test_a_network_of_convolutions_learns_as_on_the_cpu(layer):
    def train(device):
        torch.manual_seed(0)
        model = layer()
        data = torch.randn(4, 3, 8, 8).to(device)
        return losses_of_training(model, lambda m: m(data).square().mean(), device)

    losses = train("openreg")
    assert losses[-1] < losses[0]
    assert_close(losses, train("cpu"))

# Operators without a kernel run on the CPU, and say so; see docs/operators/fallback.md.
import copy
import warnings

import pytest
import torch
from against_cpu import same_error
from torch.testing import assert_close
from torch_release import has_changed


@pytest.fixture(autouse=True)
def _allow_and_forget():
    torch.openreg.set_fallback_mode("allow")
    torch.openreg.reset_fallback_counts()
    yield
    torch.openreg.set_fallback_mode("allow")


X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.nextafter(-x),
        lambda x: x.copysign(-1),
        lambda x: torch.copysign(torch.tensor(2.0), x),
        lambda x: torch.heaviside(x, torch.tensor(0.5)),
        lambda x: x.lgamma(),
        lambda x: torch.frexp(x).exponent,
        lambda x: torch.histogramdd(x.t(), bins=[2, 2]).bin_edges[1],
        lambda x: x.logcumsumexp(0),
        lambda x: torch.linalg.svd(x).S,
        lambda x: torch.fft.fft(x),
        lambda x: x.to(torch.complex64).conj().sinc(),
    ],
)
def test_results_are_right_and_on_the_device(call):
    with torch.openreg.fallbacks() as counts:
        result = call(X.to("openreg"))
    assert counts
    assert result.device == torch.device("openreg:0")
    assert_close(result.cpu(), call(X))


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.arange(5, device="openreg:1"),
        lambda: torch.eye(3, device="openreg:1"),
        lambda: torch.linspace(0, 1, 5, device="openreg:1"),
        lambda: torch.rand(3, device="openreg:1"),
        lambda: torch.full((3,), 2.0, device="openreg:1"),
        lambda: torch.ones(2, device="openreg:1") * 2,
        lambda: 2 // torch.ones(2, device="openreg:1"),
        lambda: torch.copysign(torch.tensor(2), torch.ones(2, device="openreg:1")),
    ],
)
def test_results_go_to_the_device_of_the_arguments(call):
    assert call().device == torch.device("openreg:1")


def test_a_factory_that_falls_back_makes_its_tensor_on_the_device():
    made = torch.tril_indices(3, 3, device="openreg")
    assert made.device == torch.device("openreg:0")
    assert_close(made.cpu(), torch.tril_indices(3, 3))


def test_a_list_of_outs_is_written():
    library = torch.library.Library("fallback_outs", "FRAGMENT")
    library.define("powers(Tensor x, *, Tensor(a!)[] out) -> ()")

    def powers(x, *, out):
        for exponent, tensor in enumerate(out):
            tensor.copy_(x**exponent)

    library.impl("powers", powers, "CPU")
    x = X.to("openreg")
    outs = [torch.empty_like(x), torch.empty(3, 2, device="openreg").t()]
    strides = [out.stride() for out in outs]
    with torch.openreg.fallbacks() as counts:
        torch.ops.fallback_outs.powers(x, out=outs)
    assert counts == {"fallback_outs::powers": 1}
    assert [out.stride() for out in outs] == strides
    assert_close([out.cpu() for out in outs], [torch.ones_like(X), X])
    twice = torch.empty(3, device="openreg").expand(2, 3)
    with pytest.raises(RuntimeError, match=r"more than one element .* single memory"):
        torch.ops.fallback_outs.powers(x, out=[twice])


def test_without_any_openreg_argument_the_result_stays_on_the_cpu():
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.PrivateUse1)
    result = torch.ops.aten.tril_indices.default.redispatch(keys, 2, 2)
    assert_close(result, torch.tril_indices(2, 2))
    ones = torch.ones(2)
    result = torch.ops.aten.copysign.Tensor.redispatch(keys, ones, -ones)
    assert_close(result, -ones)


def test_in_place_and_out_write_to_the_given_tensor():
    x = X.to("openreg")
    assert x.copysign_(-2) is x
    assert_close(x.cpu(), -X.abs())
    out = torch.empty(2, 3, device="openreg")
    assert torch.nextafter(x, -x, out=out) is out
    assert_close(out.cpu(), (-X.abs()).nextafter(X.abs()))
    column = torch.zeros(2, 2, device="openreg")
    torch.lgamma(x[:, 0], out=column[:, 1])
    assert_close(
        column.cpu(), torch.stack([torch.zeros(2), (-X.abs())[:, 0].lgamma()], 1)
    )


@pytest.mark.parametrize("size", [(0,), (3, 4)], ids=["resized", "given"])
@pytest.mark.parametrize(
    "arrange",
    [torch.t, lambda x: x.view(3, 4, 1, 1).to(memory_format=torch.channels_last)],
)
def test_out_gets_the_strides_that_it_gets_on_the_cpu(size, arrange):
    x = arrange(torch.randn(4, 3) if arrange is torch.t else torch.randn(3, 4))
    size = x.shape if size == (3, 4) else size
    on_cpu, on_device = torch.empty(size), torch.empty(size, device="openreg")
    torch.nextafter(x, x, out=on_cpu)
    torch.nextafter(x.to("openreg"), x.to("openreg"), out=on_device)
    assert on_device.stride() == on_cpu.stride()
    assert_close(on_device.cpu(), on_cpu)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (0,), (7,)])
def test_out_of_another_shape_warns_as_on_the_cpu_and_stays_inside(shape):
    said, results = [], []
    for device in ("cpu", "openreg"):
        around = torch.zeros(9, 9, device=device)
        inner = around if len(shape) == 2 else around[1]
        out = inner[tuple(slice(1, 1 + size) for size in shape)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.nextafter(X.to(device), X.to(device), out=out)
        said.append([str(warning.message) for warning in caught])
        results.append((out.cpu(), out.stride(), around.cpu()))
    assert said[0] == said[1]
    assert bool(said[0]) == (shape not in [(2, 3), (0,)])
    assert_close(results[0], results[1])


def test_lists_are_arguments_outs_and_results():
    x = torch.arange(6.0, device="openreg")
    outs = [torch.full((2,), -1.0, device="openreg") for _ in range(3)]
    torch.ops.aten.split_copy.Tensor_out(x, 2, out=outs)
    assert [t.tolist() for t in outs] == [[0, 1], [2, 3], [4, 5]]
    outs = [torch.empty(0, device="openreg") for _ in range(3)]
    torch.ops.aten.unbind_copy.int_out(x.view(3, 2), out=outs)
    assert [t.tolist() for t in outs] == [[0, 1], [2, 3], [4, 5]]
    library = torch.library.Library("test_fallback", "DEF")
    library.define("both(Tensor a, Tensor?[] b) -> Tensor[]")
    library.impl("both", lambda a, b: [a + b[1], a - b[1]], "CPU")
    both = torch.ops.test_fallback.both(torch.tensor(1.0), [None, x])
    library._destroy()
    assert [t.device.type for t in both] == ["openreg", "openreg"]
    assert both[1].tolist() == (1 - torch.arange(6.0)).tolist()


def test_overlapping_results_are_refused():
    x = torch.arange(6.0, device="openreg").view(2, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to"):
        torch.renorm(x, 2, 0, 1.0, out=x[0].expand(2, 3))
    memory = torch.zeros(7, device="openreg")
    before, after = memory[:6].view(2, 3), memory[1:].view(2, 3)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and"):
        torch.renorm(before, 2, 0, 1.0, out=after)
    torch.renorm(x, 2, 0, 1.0, out=x)
    assert_close(x.cpu(), torch.renorm(torch.arange(6.0).view(2, 3), 2, 0, 1.0))


def test_results_keep_the_strides_that_the_cpu_gave_them():
    a, b = torch.randn(4, 4) + 4 * torch.eye(4), torch.randn(4, 3)
    expected = torch.linalg.lstsq(a, b).solution
    assert expected.stride() == (1, 4)
    actual = torch.linalg.lstsq(a.to("openreg"), b.to("openreg")).solution
    assert actual.stride() == expected.stride()
    assert_close(actual.cpu(), expected)


# -- random numbers, of an operator that only the CPU has --


@pytest.fixture
def noise():
    library = torch.library.Library("test_fallback", "DEF")
    library.define("noise(Tensor x, *, Generator? generator=None) -> Tensor")
    library.impl(
        "noise",
        lambda x, *, generator: torch.rand(x.shape, generator=generator),
        "CPU",
    )
    yield torch.ops.test_fallback.noise
    library._destroy()


@pytest.mark.needs(stage=5)
def test_the_seed_of_the_device_decides(noise):
    x = torch.ones(5, device="openreg")
    before = torch.get_rng_state()
    torch.openreg.manual_seed(7)
    first, second = noise(x), noise(x)
    assert first.device == x.device
    torch.openreg.manual_seed(7)
    assert torch.equal(noise(x).cpu(), first.cpu())
    assert torch.equal(noise(x).cpu(), second.cpu())
    assert not torch.equal(first.cpu(), second.cpu())
    torch.openreg.manual_seed(8)
    assert not torch.equal(noise(x).cpu(), first.cpu())
    assert torch.equal(torch.get_rng_state(), before)  # the CPU's was not touched
    assert torch.openreg.fallback_counts() == {"test_fallback::noise": 5}


def test_an_own_generator_is_used(noise):
    x = torch.ones(5, device="openreg")
    generator = torch.Generator("openreg").manual_seed(3)
    state = torch.openreg.get_rng_state()
    first = noise(x, generator=generator)
    assert generator.get_offset() == 1
    generator.manual_seed(3)
    assert torch.equal(noise(x, generator=generator).cpu(), first.cpu())
    assert torch.equal(torch.openreg.get_rng_state(), state)
    with pytest.raises(RuntimeError, match="Expected a 'openreg' device type"):
        noise(x, generator=torch.Generator())


# -- modes and counters --


@pytest.mark.needs(stage=5)
def test_counts_tell_which_operators_fell_back():
    x = X.to("openreg")
    torch.openreg.reset_fallback_counts()
    x + x
    assert torch.openreg.fallback_counts() == {}
    x.nextafter(x)
    x.nextafter(x)
    x.copysign(x)
    counts = {"aten::nextafter.out": 2, "aten::copysign.Tensor": 1}
    assert torch.openreg.fallback_counts() == counts
    torch.openreg.reset_fallback_counts()
    assert torch.openreg.fallback_counts() == {}
    assert str(torch.openreg.fallback_counts()) == "no operator fell back"


def test_a_context_counts_what_falls_back_within_and_restores_the_mode():
    x = X.to("openreg")
    x.nextafter(x)
    with torch.openreg.fallbacks() as outer:
        x.nextafter(x)
        with (
            pytest.raises(NotImplementedError, match="lgamma"),
            torch.openreg.fallbacks("error") as inner,
        ):
            x.lgamma()
        assert torch.openreg.fallback_mode() == "allow"
        x.lgamma()
        x.nextafter(x)
    assert inner == {}
    assert outer == {"aten::nextafter.out": 2, "aten::lgamma.out": 1}
    assert str(outer).splitlines() == [
        "times  operator",
        "    2  aten::nextafter.out",
        "    1  aten::lgamma.out",
    ]
    with (
        pytest.raises(ValueError, match="not 'maybe'"),
        torch.openreg.fallbacks("maybe"),
    ):
        raise AssertionError


def test_warn_mode_warns_once_for_each_operator():
    x = X.to("openreg")
    x.nextafter(x)  # allowed, without a warning
    for _ in range(2):
        torch.openreg.set_fallback_mode("warn")
        with pytest.warns(UserWarning, match=r"aten::nextafter\.out has no kernel"):
            x.nextafter(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x.nextafter(x)


@pytest.mark.needs(stage=5)
def test_error_mode_refuses_and_names_the_operator():
    x = X.to("openreg")
    torch.openreg.set_fallback_mode("error")
    with pytest.raises(
        NotImplementedError, match=r"aten::nextafter\.out has no kernel"
    ):
        x.nextafter(x)
    assert_close((x + 2).cpu(), X + 2)  # native operators go on
    with pytest.raises(ValueError, match="'allow', 'warn' or 'error', not 'maybe'"):
        torch.openreg.set_fallback_mode("maybe")
    assert torch.openreg.fallback_mode() == "error"


def test_the_environment_sets_the_first_mode(run_forked):
    program = "import torch; print(torch.openreg.fallback_mode())"
    assert run_forked(program, OPENREG_FALLBACK="warn").stdout == "warn\n"
    process = run_forked(program, OPENREG_FALLBACK="perhaps")
    assert "OPENREG_FALLBACK must be 'allow', 'warn' or 'error'" in process.stderr


def test_operators_that_no_cpu_kernel_serves_raise():
    image = torch.ones(1, 1, 3, 3, device="openreg")
    with pytest.raises(NotImplementedError, match=r"cudnn_convolution_relu.*'CPU'"):
        torch.cudnn_convolution_relu(image, image, None, [1, 1], [0, 0], [1, 1], 1)


def test_mixed_devices_are_refused():
    x = X.to("openreg")
    out = torch.empty_like(x)
    for other in (X, X.to("openreg:1")):
        message = f"openreg:0 and {other.device}, in aten::nextafter"
        with pytest.raises(RuntimeError, match=message):
            torch.nextafter(x, other, out=out)
    number = torch.tensor(0.0)  # may come from the CPU, but not stay there
    assert_close(torch.nextafter(x, number, out=out).cpu(), X.nextafter(number))
    with pytest.raises(RuntimeError, match="openreg:0 and cpu, in aten::nextafter"):
        torch.nextafter(x[0, 0], x[0, 0], out=number)


def test_a_number_without_memory_is_refused():
    number = torch.tensor(1.0)
    number.untyped_storage().resize_(0)  # PyTorch's CPU kernels would crash
    with pytest.raises(RuntimeError, match="needs 4 bytes, but its storage has 0"):
        torch.nextafter(X.to("openreg"), number)


@pytest.mark.needs(stage=5)
def test_a_kernel_leaves_some_dtypes_to_the_cpu(compile_cpp):
    torch.ops.load_library(compile_cpp("some_dtypes"))
    hypot = torch.ops.openreg_some_dtypes.hypot
    x, y = torch.tensor([3.0, -6.0, 0.0]), torch.tensor([4.0, 8.0, -1.0])
    for dtype, copies in ((torch.float32, 0), (torch.float64, 3)):
        a, b = x.to("openreg", dtype), y.to("openreg", dtype)
        with torch.autograd.profiler.profile() as profile:
            result = hypot(a, b)
        assert (result.device.type, result.dtype) == ("openreg", dtype)
        assert result.tolist() == [5, 10, 1]
        names = [event.name for event in profile.function_events]
        assert names.count("aten::_copy_from") == copies


def curvature_of_distances(device):
    """The gradient of a sum of squared gradients."""
    x = X.to(device).requires_grad_()
    distances = torch.nn.functional.pdist(x).square().sum()
    (first,) = torch.autograd.grad(distances, x, create_graph=True)
    return torch.autograd.grad(first.square().sum(), x)[0]


def test_the_second_derivative_of_pdist():
    if not has_changed("pdist has a second derivative"):
        same_error(curvature_of_distances, RuntimeError)
        return
    with torch.openreg.fallbacks() as counts:
        result = curvature_of_distances("openreg")
    assert set(counts) == {"aten::triu_indices"}
    assert_close(result.cpu(), curvature_of_distances("cpu"))


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (torch.nn.Conv2d(4, 6, 3, padding=1, groups=2), (2, 4, 5, 5)),
        (torch.nn.ConvTranspose1d(4, 6, 3, stride=2, bias=False), (2, 4, 5)),
        (torch.nn.LSTM(4, 5), (3, 2, 4)),
        (torch.nn.GRU(4, 5), (3, 2, 4)),
    ],
    ids=["convolution", "transposed", "LSTM", "GRU"],
)
def test_layers_that_the_boxed_fallback_does_not_reach(layer, shape):
    """Even without kernels: files of aten/fallback take their place."""
    x = torch.randn(shape)
    results = []
    for device in ("cpu", "openreg"):
        moved = copy.deepcopy(layer).to(device)
        start = x.detach().to(device).requires_grad_()
        out = moved(start)
        out = out[0] if isinstance(out, tuple) else out
        out.square().sum().backward()
        grads = [start.grad, *(p.grad for p in moved.parameters())]
        results.append([out.cpu(), *(grad.cpu() for grad in grads)])
    for found, expected in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(found, expected)

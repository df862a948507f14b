# Custom operators written in Python; see docs/operators/custom-python.md.
import importlib
import sys
from pathlib import Path

import pytest
import torch
from against_cpu import check_against_cpu
from torch.library import custom_op, opcheck
from torch.testing import assert_close
from torch.testing._internal.optests.generate_tests import OpCheckError

CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
FOLDER = str(Path(__file__).parents[1] / "custom")


def oracle(x, bias, cap):
    return cap * torch.tanh((x + bias) / cap)


@pytest.fixture(scope="session")
def module():
    sys.path.insert(0, FOLDER)
    try:
        return importlib.import_module("softcap_python")
    finally:
        sys.path.remove(FOLDER)


@pytest.fixture(params=["operator", "function"])
def softcap(module, request):
    """The operator, and the autograd function around it: they do the same."""
    return module.softcap if request.param == "operator" else module.Softcap.apply


@pytest.fixture
def library():
    """A namespace for operators that are made wrong on purpose."""
    with torch.library._scoped_library("faulty", "DEF") as made:
        yield made


def pair(*shape, dtype=torch.float64, grad=False):
    options = {"dtype": dtype, "device": "openreg"}
    x, bias = torch.randn(shape, **options), torch.randn(shape[-1], **options)
    return x.requires_grad_(grad), bias.requires_grad_(grad)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_values(softcap, dtype):
    for shape in ((3,), (2, 3, 4), (0, 4)):
        x, bias = pair(*shape, dtype=dtype)
        expected = oracle(x.cpu(), bias.cpu(), 2.0)
        assert_close(softcap(x, bias, 2.0).cpu(), expected)
        assert_close(softcap(x.cpu(), bias.cpu(), 2.0), expected)
    x, bias = pair(4, 3, dtype=dtype)
    result = softcap(x.t(), x[:, 0], 2.0)
    assert_close(result.cpu(), oracle(x.cpu().t(), x[:, 0].cpu(), 2.0))
    assert result.is_contiguous()


def test_the_kernel_of_the_device_is_called(module):
    x, bias = pair(3, 4)
    torch.openreg.reset_fallback_counts()
    assert module.softcap(x, bias, 2.0).device == x.device
    assert "softcap_python::softcap" not in torch.openreg.fallback_counts()


def test_gradients(softcap):
    x, bias = pair(2, 3, 4, grad=True)
    assert torch.autograd.gradcheck(lambda *args: softcap(*args, 2.0), (x, bias))
    assert torch.autograd.gradgradcheck(lambda *args: softcap(*args, 2.0), (x, bias))
    check_against_cpu(lambda *args: softcap(*args, 2.0), x.detach(), bias.detach())


# From torch 2.14 on, opcheck itself reads the gradient of a tensor that is no leaf.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_opcheck(module):
    x, bias = pair(2, 3, 4, grad=True)
    opcheck(module.softcap, (x, bias, 2.0), test_utils=CHECKS)
    cpu = [t.detach().cpu().requires_grad_() for t in (x, bias)]
    opcheck(module.softcap, (*cpu, 2.0))
    opcheck(module.softcap, (x.detach(), bias.detach(), 2.0))  # all, for inference


@pytest.mark.parametrize("dims", [(0, None), (1, None), (None, 0), (2, 0)])
def test_vmap(softcap, dims):
    x, _ = pair(3, 3, 3)
    bias, _ = pair(*(3, 3) if dims[1] is not None else (3,))
    result = torch.vmap(softcap, (*dims, None))(x, bias, 2.0)
    expected = torch.vmap(oracle, (*dims, None))(x.cpu(), bias.cpu(), 2.0)
    assert_close(result.cpu(), expected)


def test_autocast(softcap):
    x, bias = pair(3, 4, dtype=torch.float16)
    with torch.autocast("openreg"):
        assert softcap(x, bias, 2.0).dtype == torch.float32
    assert softcap(x, bias, 2.0).dtype == torch.float16


@pytest.mark.smoke
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the compiler's own code
def test_the_compiler(softcap):
    x, bias = pair(3, 4)
    step = torch.compile(
        lambda *args: softcap(*args, 2.0) * 2, backend="aot_eager", fullgraph=True
    )
    check_against_cpu(step, x, bias)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_only_the_function_serves_functorch(module):
    x, bias = pair(3, 4)

    def gradients(call, x, bias):
        grad = torch.func.grad(lambda x, b: call(x, b, 2.0).sum(), argnums=(0, 1))
        return torch.vmap(grad, in_dims=(0, None))(x, bias)

    actual = gradients(module.Softcap.apply, x, bias)
    expected = gradients(oracle, x.cpu(), bias.cpu())
    assert_close([t.cpu() for t in actual], list(expected))
    with pytest.raises(RuntimeError, match="must override the setup_context"):
        gradients(module.softcap, x, bias)
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        torch.func.jvp(lambda x: module.Softcap.apply(x, bias, 2.0), (x,), (x,))


# -- What goes wrong --


def test_a_missing_device_kernel_falls_back_if_the_cpu_has_one(library):
    library.define("halve(Tensor x) -> Tensor")
    halve = torch.ops.faulty.halve
    x = torch.ones(2, device="openreg")
    with pytest.raises(NotImplementedError, match="from the 'CPU' backend"):
        halve(x)
    library.impl("halve", lambda x: x / 2, "CPU")
    torch.openreg.reset_fallback_counts()
    result = halve(x)
    assert (result.device.type, result.tolist()) == ("openreg", [0.5, 0.5])
    assert torch.openreg.fallback_counts() == {"faulty::halve": 1}
    torch.openreg.set_fallback_mode("error")
    try:
        with pytest.raises(
            NotImplementedError, match="faulty::halve has no kernel for"
        ):
            halve(x)
    finally:
        torch.openreg.set_fallback_mode("allow")


def test_a_missing_fake_kernel(library):
    library.define("copy(Tensor x) -> Tensor")
    library.impl("copy", torch.clone, "PrivateUse1")
    x = torch.ones(2, device="openreg")
    with pytest.raises(NotImplementedError, match="there was no fake impl or Meta"):
        torch.ops.faulty.copy(x.to("meta"))
    with pytest.raises(OpCheckError, match="test_faketensor failed"):
        opcheck(torch.ops.faulty.copy.default, (x,))
    with pytest.raises(torch._dynamo.exc.Unsupported, match="fake tensors"):
        torch.compile(torch.ops.faulty.copy, backend="aot_eager", fullgraph=True)(x)


def test_opcheck_finds_a_fake_kernel_that_is_wrong():
    @custom_op("faulty_fake::turn", mutates_args=(), device_types="openreg")
    def turn(x: torch.Tensor) -> torch.Tensor:
        return x.t().contiguous()

    turn.register_fake(torch.empty_like)
    with pytest.raises(OpCheckError, match=r"Shapes .*3, 2.* and .*2, 3.* not equal"):
        opcheck(turn, (torch.ones(2, 3, device="openreg"),))


def test_a_missing_gradient():
    @custom_op("faulty_grad::copy", mutates_args=(), device_types="openreg")
    def copy(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    x = torch.ones(2, device="openreg", requires_grad=True)
    with pytest.raises(RuntimeError, match="but no autograd formula was registered"):
        copy(x).sum().backward()


def test_opcheck_finds_a_change_that_the_schema_hides():
    @custom_op("faulty_schema::grow", mutates_args=(), device_types="openreg")
    def grow(x: torch.Tensor) -> torch.Tensor:
        return x.add_(1).clone()

    x = torch.ones(2, device="openreg")
    with pytest.raises(OpCheckError, match="not defined as mutable but was mutated"):
        opcheck(grow, (x,), test_utils="test_schema")

    @custom_op("faulty_schema::declared", mutates_args={"x"}, device_types="openreg")
    def declared(x: torch.Tensor) -> torch.Tensor:
        return x.add_(1).clone()

    opcheck(declared, (x,), test_utils="test_schema")


def test_an_output_that_is_an_input(library):
    @custom_op("faulty_alias::same", mutates_args=(), device_types="openreg")
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    x = torch.ones(2, device="openreg")
    with pytest.raises(RuntimeError, match="must not also be an input"):
        same(x)
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x, "PrivateUse1")
    assert torch.ops.faulty.same(x) is x  # only opcheck checks
    with pytest.raises(OpCheckError, match="not defined to alias output"):
        opcheck(torch.ops.faulty.same.default, (x,), test_utils="test_schema")


def test_a_signature_without_types():
    with pytest.raises(ValueError, match="Parameter cap must have a type annotation"):

        @custom_op("faulty_types::softcap", mutates_args=())
        def softcap(x: torch.Tensor, cap) -> torch.Tensor:
            return x.clone()


# -- the operators of PyTorch's own example --


@pytest.fixture(scope="module")
def upstream():
    folder = str(Path(__file__).parents[1] / "examples")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("upstream_names")
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.complex64, torch.int32]
)
def test_custom_abs(upstream, dtype):
    x = torch.tensor([[-1.5, 0.0, 2.0], [3.0, -4.0, 5.0]]).to(dtype)
    for host in (x, x.t(), x[:, ::2], x[:0], x.sum()):
        on_device = host.to("openreg")
        found = torch.ops.openreg.custom_abs(on_device)
        assert_close(found.cpu(), host.abs())
        assert found.device.type == "openreg"
        assert set(opcheck(upstream.custom_abs, (on_device,)).values()) == {"SUCCESS"}


def test_custom_abs_has_a_gradient_and_no_kernel_for_the_cpu(upstream):
    x = torch.tensor([-1.0, 2.0, 3.0 - 4.0j], dtype=torch.complex128)
    leaf = x.to("openreg").requires_grad_()
    assert torch.autograd.gradcheck(torch.ops.openreg.custom_abs, leaf)
    with pytest.raises(NotImplementedError, match=r"openreg::custom_abs.*'CPU'"):
        torch.ops.openreg.custom_abs(torch.ones(1))


@pytest.mark.parametrize("name", ["returns_self", "aliasing"])
@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
def test_autograd_functions_that_return_their_input(upstream, name, backend):
    operator = getattr(torch.ops.openreg, f"custom_autograd_fn_{name}")
    function = torch.compile(operator, backend=backend) if backend else operator
    x = torch.tensor([1.0, 2.0, 3.0], device="openreg", requires_grad=True)
    y = function(x)
    assert y.data_ptr() == x.data_ptr()
    assert y.tolist() == x.tolist()
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.5]

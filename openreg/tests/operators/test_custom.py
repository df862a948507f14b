# Custom operators built out of tree, in all forms; see docs/operators/custom.md.
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch_openreg.utils
from against_cpu import check_against_cpu
from custom_build import SOFTCAP, install_softcap
from torch.library import opcheck
from torch.testing import assert_close

CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def oracle(x, bias, cap):
    return cap * torch.tanh((x + bias) / cap)


@pytest.fixture(scope="session")
def site() -> Path:
    return install_softcap()


@pytest.fixture(scope="session")
def package(site):
    """The package, with its rules in Python."""
    sys.path.insert(0, str(site))
    try:
        return importlib.import_module("softcap.rules")
    finally:
        sys.path.remove(str(site))


@pytest.fixture
def op(package):
    return torch.ops.softcap.softcap.default


@pytest.fixture
def op_backward(package):
    return torch.ops.softcap.softcap_backward.default


def pair(*shape, dtype=torch.float64, device="openreg", grad=False):
    x = torch.randn(shape, dtype=torch.float64).to(dtype).to(device)
    bias = torch.randn(shape[-1], dtype=torch.float64).to(dtype).to(device)
    return x.requires_grad_(grad), bias.requires_grad_(grad)


# -- Kernels --


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 4), (5, 1)])
def test_all_kernels_agree_with_the_oracle(op, dtype, shape):
    x, bias = pair(*shape, dtype=dtype)
    expected = oracle(x.cpu(), bias.cpu(), 2.0)
    for result in (op(x, bias, 2.0), op(x.cpu(), bias.cpu(), 2.0)):
        assert result.dtype == dtype
        assert_close(result.cpu(), expected)
    meta = op(x.to("meta"), bias.to("meta"), 2.0)
    assert (meta.shape, meta.dtype) == (expected.shape, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_backward_kernels_agree(op_backward, dtype):
    grad, _ = pair(3, 4, dtype=dtype)
    y = torch.tanh(grad.flip(0))
    expected = grad.cpu() * (1 - (y.cpu() / 2) ** 2)
    for device in ("openreg", "cpu"):
        result = op_backward(grad.to(device), y.to(device), 2.0)
        assert_close(result.cpu(), expected)


def test_strided_and_negative_tensors(op):
    x, bias = pair(4, 3)
    views = [(x.t(), x[:, 0]), (x[::2, :2], bias[::2]), (torch._neg_view(x), bias)]
    for left, right in views:
        expected = oracle(left.cpu(), right.cpu(), 2.0)
        assert_close(op(left, right, 2.0).cpu(), expected)
        assert op(left, right, 2.0).is_contiguous()
        assert op(left.cpu(), right.cpu(), 2.0).is_contiguous()


def test_the_kernel_runs_on_the_current_stream_of_its_device(op):
    x, bias = pair(3, 4)
    far, near = x.to("openreg:1"), bias.to("openreg:1")
    stream = torch.Stream("openreg:1")
    torch.accelerator.synchronize(1)
    torch.openreg.set_device(0)  # not the device of the tensors
    torch.openreg.set_stream(stream)
    torch.openreg.set_device(0)
    with torch.openreg.simulator.hold(stream):
        y = op(far, near, 2.0)
        assert not stream.query()
    stream.synchronize()
    assert y.device == torch.device("openreg:1")
    assert_close(y.cpu(), oracle(x.cpu(), bias.cpu(), 2.0))


def test_bad_arguments_are_refused_by_every_kernel(op):
    x, bias = pair(3, 4)
    float8 = torch.float8_e4m3fn
    calls = {
        "16 to 64 bits, but have double and float": (x, bias.float(), 2.0),
        "16 to 64 bits, but have int and int": (x.int(), bias.int(), 2.0),
        "16 to 64 bits, but have c10::Float8": (x.to(float8), bias.to(float8), 2.0),
        "x has 4 features, but bias has 3": (x, bias[:3], 2.0),
        "dimensions, and bias one, but they have 2 and 2": (x, x, 2.0),
        "cap must be positive, but is -2": (x, bias, -2.0),
    }
    for message, (left, right, cap) in calls.items():
        for device in ("openreg", "cpu", "meta"):
            with pytest.raises(RuntimeError, match=message):
                op(left.to(device), right.to(device), cap)
    with pytest.raises(RuntimeError, match="x is on openreg:0, but bias is on cpu"):
        op(x, bias.cpu(), 2.0)
    with pytest.raises(
        RuntimeError, match="x is on openreg:0, but bias is on openreg:1"
    ):
        op(x, bias.to("openreg:1"), 2.0)
    torch.openreg.synchronize()  # nothing was launched that could fail


# -- Rules --


# From torch 2.14 on, opcheck itself reads the gradient of a tensor that is no leaf.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_opcheck(op, op_backward):
    for shape in ((3,), (2, 3, 4)):
        x, bias = pair(*shape, grad=True)
        assert set(opcheck(op, (x, bias, 2.0), test_utils=CHECKS)) == set(CHECKS)
        y = x.detach().clone().requires_grad_()
        opcheck(op_backward, (x, y, 2.0), test_utils=CHECKS)
        cpu = [t.detach().cpu().requires_grad_() for t in (x, bias)]
        opcheck(op, (*cpu, 2.0))  # all checks


def test_gradients(op):
    x, bias = pair(2, 3, 4, grad=True)
    assert torch.autograd.gradcheck(lambda *args: op(*args, 2.0), (x, bias))
    assert torch.autograd.gradgradcheck(lambda *args: op(*args, 2.0), (x, bias))
    check_against_cpu(lambda *args: op(*args, 2.0), x.detach(), bias.detach())
    (grad,) = torch.autograd.grad(op(x.detach(), bias, 2.0).sum(), bias)
    leaf = bias.detach().cpu().requires_grad_()
    oracle(x.detach().cpu(), leaf, 2.0).sum().backward()
    assert_close(grad.cpu(), leaf.grad)


@pytest.mark.parametrize("dims", [(0, None), (1, None), (None, 0), (2, 0), (-1, 1)])
def test_vmap(op, dims):
    x, _ = pair(3, 3, 3)
    bias, _ = pair(*(3, 3) if dims[1] is not None else (3,))
    in_dims = (*dims, None)
    result = torch.vmap(op, in_dims)(x, bias, 2.0)
    assert_close(result.cpu(), torch.vmap(oracle, in_dims)(x.cpu(), bias.cpu(), 2.0))


@pytest.mark.parametrize("dims", [(0, 0), (1, None), (None, 0)])
def test_vmap_of_the_backward_operator(op_backward, dims):
    grad, y = (pair(*(3, 3) if dim is not None else (3,))[0] for dim in dims)
    result = torch.vmap(op_backward, (*dims, None))(grad, y, 2.0)

    def derivative(grad, y, cap):
        return grad * (1 - (y / cap) ** 2)

    expected = torch.vmap(derivative, (*dims, None))(grad.cpu(), y.cpu(), 2.0)
    assert_close(result.cpu(), expected)


def test_autocast_computes_in_float32(op):
    x, bias = pair(3, 4, dtype=torch.float16)
    with torch.autocast("openreg"):
        result = op(x, bias, 2.0)
        untouched = op(x.double(), bias.double(), 2.0)
    assert (result.dtype, untouched.dtype) == (torch.float32, torch.float64)
    assert_close(result.cpu(), oracle(x.cpu().float(), bias.cpu().float(), 2.0))
    assert op(x, bias, 2.0).dtype == torch.float16


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_the_compiler_takes_it(op, backend, inductor):
    compiled = torch.compile(
        lambda x, bias: op(x.sin() * 2, bias, 2.0).exp() + 1,
        backend=backend,
        fullgraph=True,
    )
    check_against_cpu(compiled, *pair(3, 4))


def test_functorch_wants_another_form(op):
    x, bias = pair(3, 4)
    with pytest.raises(RuntimeError, match="must override the setup_context"):
        torch.func.grad(lambda x: op(x, bias, 2.0).sum())(x)


# -- Without rules, and with those in C++ --


def test_without_an_autograd_rule_there_is_a_warning_and_no_gradient(site, run_python):
    program = """
        import softcap, torch, warnings
        x = torch.ones(2, 3, device="openreg", requires_grad=True)
        y = torch.ops.softcap.softcap(x, x[0].detach(), 2.0)
        print(y.requires_grad)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y.sum().backward()
        print(x.grad)
        print(caught[0].message)
    """
    process = run_python(program, PYTHONPATH=str(site))
    requires_grad, grad, message = process.stdout.splitlines()
    assert (requires_grad, grad) == ("True", "None")
    assert message.startswith("softcap::softcap: an autograd kernel was not registered")


def test_the_rules_in_cpp(site, run_python):
    program = """
        import pathlib, softcap, torch
        package = pathlib.Path(softcap.__file__).parent
        torch.ops.load_library(package / "libsoftcap_rules.so")
        op = torch.ops.softcap.softcap.default
        double = {"dtype": torch.float64, "device": "openreg", "requires_grad": True}
        x, bias = torch.randn(2, 3, 4, **double), torch.randn(4, **double)
        print(torch.autograd.gradcheck(lambda x, b: op(x, b, 2.0), (x, bias)))
        print(torch.autograd.gradgradcheck(lambda x, b: op(x, b, 2.0), (x, bias)))
        checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
        print(*torch.library.opcheck(op, (x, bias, 2.0), test_utils=checks).values())
        cpu = (t.detach().cpu().requires_grad_() for t in (x, bias))
        print(*torch.library.opcheck(op, (*cpu, 2.0)).values())
        half = x.detach().half(), bias.detach().half()
        with torch.autocast("openreg"):
            print(op(*half, 2.0).dtype)
        print(op(*half, 2.0).dtype)
        try:
            torch.func.grad(lambda x: op(x, bias, 2.0).sum())(x)
        except RuntimeError as error:
            print(error)
    """
    process = run_python(program, PYTHONPATH=str(site))
    assert process.stdout.splitlines() == [
        "True",
        "True",
        "SUCCESS SUCCESS SUCCESS",
        "SUCCESS SUCCESS SUCCESS SUCCESS",
        "torch.float32",
        "torch.float16",
        "cannot use C++ torch::autograd::Function with functorch transforms "
        "(vmap, grad, vjp, etc)",
    ], process.stderr


# -- The installed package --


def test_it_ships_what_a_custom_operator_needs():
    (include,) = map(Path, torch_openreg.utils.include_paths())
    (library,) = map(Path, torch_openreg.utils.library_paths())
    headers = {str(path.relative_to(include)) for path in include.rglob("*.h")}
    launch = {f"{name}.h" for name in ("Argument", "HostKernel", "Launch", "Trial")}
    launch |= {
        f"{name}.h" for name in ("LaunchState", "Operands", "Shrink", "TensorArg")
    }
    stream = "csrc/runtime/stream/OpenRegStream.h"
    assert {"openreg.h", "csrc/Export.h", stream} < headers
    rooms = {name: Path(name).parts[1] for name in headers if name.startswith("csrc/")}
    assert {
        Path(name).name for name, room in rooms.items() if room == "kernels"
    } == launch
    assert "aten" not in rooms.values()
    assert (library / "libtorch_openreg.so").is_file()
    for target in ("openreg", "torch_openreg"):
        assert (library / f"lib{target}.so").is_file()


def configure(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", SOFTCAP, "-B", tmp_path, *arguments]
    command += [f"-DPython_EXECUTABLE={sys.executable}"]
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def test_cmake_without_the_prefix_names_the_package(tmp_path):
    process = configure(tmp_path)
    assert process.returncode != 0
    assert 'provided by\n  "torch_openreg"' in process.stderr


def test_cmake_refuses_another_torch(tmp_path):
    prefix = Path(torch_openreg.utils.cmake_prefix_path) / "torch_openreg"
    copy = tmp_path / "prefix" / "torch_openreg"
    copy.mkdir(parents=True)
    for path in prefix.glob("*.cmake"):
        text = path.read_text()
        (copy / path.name).write_text(text.replace(torch.__version__, "2.12.1+cpu"))
    process = configure(tmp_path / "build", f"-DCMAKE_PREFIX_PATH={copy.parent}")
    assert process.returncode != 0
    message = " ".join(process.stderr.split())
    assert "torch_openreg was built for torch 2.12.1+cpu, but" in message
    assert f"has torch {torch.__version__}" in message

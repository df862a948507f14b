# Kernels of users: as operators, in torch.compile, in libraries; see
# docs/modules/triton.md.
import importlib.util
import sys
from pathlib import Path

import pytest
import torch
from torch._inductor.utils import run_and_get_code
from torch.testing import assert_close

EXAMPLES = Path(__file__).parents[2] / "tests/examples/triton_kernels"


def load(name):
    """Import an example under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location(
        f"triton_kernels_{name}", EXAMPLES / f"{name}.py"
    )
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


softcap_module = load("softcap")
library = load("library")
softcap, softcap_opaque = softcap_module.softcap, softcap_module.softcap_opaque


def expected(x, cap=2.0):
    return cap * torch.tanh(x / cap)


def plain(x):
    """Call the kernel as it is, without an operator."""
    out = torch.empty_like(x)
    softcap_module.softcap_kernel[(1,)](x, out, 2.0, x.numel(), BLOCK=128)
    return out


def leaves(x):
    """Return two tensors with derivatives, on the CPU and on the device."""
    return x.clone().requires_grad_(), x.to("openreg").requires_grad_()


@pytest.fixture
def x():
    return torch.randn(100) * 3


# -- one kernel --


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_eager(x, dtype):
    x = x.to(dtype)
    for operator in (softcap, softcap_opaque):
        assert_close(operator(x.to("openreg"), 2.0).cpu(), expected(x))


def test_autograd(x):
    here, there = leaves(x)
    expected(here).square().sum().backward()
    softcap(there, 2.0).square().sum().backward()
    assert_close(there.grad.cpu(), here.grad, rtol=1e-4, atol=1e-5)


def test_the_operator_is_well_registered(x):
    # The fourth check, of the registration of autograd, has a closed list of devices.
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    args = (x.to("openreg").requires_grad_(), 2.0)
    torch.library.opcheck(softcap, args, test_utils=checks)
    torch.library.opcheck(softcap_opaque, (x.to("openreg"), 2.0), test_utils=checks)


@pytest.mark.parametrize("backend", ["triton", "loops"])
@pytest.mark.parametrize("operator", [softcap, softcap_opaque], ids=["op", "opaque"])
def test_compiled(x, operator, backend, compile_with):
    compile_with(backend)
    compiled = torch.compile(lambda x: operator(x + 1, 2.0) * 2, fullgraph=True)
    found, (text, *_) = run_and_get_code(compiled, x.to("openreg"))
    assert_close(found.cpu(), expected(x + 1) * 2)
    # Only triton_op lets Inductor see the kernel.
    assert ("def softcap_kernel(" in text) == (operator is softcap)
    assert ("triton_poi_fused" in text) == (backend == "triton")


@pytest.mark.parametrize("backend", ["triton", "loops"])
def test_compiled_on_the_second_device(x, backend, compile_with):
    compile_with(backend)
    compiled = torch.compile(lambda x: softcap(x, 2.0), fullgraph=True)
    stream = torch.openreg.Stream(1)
    for _ in range(2):
        with torch.openreg.simulator.hold():  # the default stream of device 0
            assert_close(compiled(x.to("openreg:1")).cpu(), expected(x))
        with stream:
            found = compiled(x.to("openreg:1"))
    stream.synchronize()
    assert_close(found.cpu(), expected(x))
    assert torch.openreg.current_device() == 0


def test_compiled_with_autograd(x, triton_inductor):
    here, there = leaves(x)
    expected(here).square().sum().backward()
    compiled = torch.compile(lambda x: softcap(x, 2.0).square().sum(), fullgraph=True)
    compiled(there).backward()
    assert_close(there.grad.cpu(), here.grad, rtol=1e-4, atol=1e-5)


def test_dynamic_shapes(x, triton_inductor):
    compiled = torch.compile(lambda x: softcap(x, 2.0), fullgraph=True, dynamic=True)
    for size in (100, 7, 64):
        assert_close(compiled(x[:size].to("openreg")).cpu(), expected(x[:size]))


@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace")
def test_a_plain_kernel_in_a_compiled_function(x, triton_inductor):
    """A known gap of torch 2.13, whose ``has_triton`` has a closed list of devices."""
    x = x.to("openreg")
    assert_close(plain(x).cpu(), expected(x.cpu()))
    compiled = torch.compile(plain, fullgraph=True)
    if torch.__version__ < "2.14":
        with pytest.raises(torch._dynamo.exc.Unsupported, match="marked as skipped"):
            compiled(x)
    else:
        assert_close(compiled(x).cpu(), expected(x.cpu()))


# -- a library --


@pytest.fixture
def enabled():
    library.enable()
    yield
    library.disable()


def names_of_kernels(call):
    activities = torch.profiler.ProfilerActivity
    kinds = [activities.CPU, activities.PrivateUse1]
    with torch.profiler.profile(activities=kinds) as profile:
        call()
        torch.openreg.synchronize()
    found = [e.name for e in profile.events() if "OPENREG" in str(e.device_type)]
    return set(found)


def test_a_library_replaces_operators_and_brings_them_back(x):
    rows = x.view(10, 10).to("openreg")

    def call():
        return torch.nn.functional.silu(rows).softmax(0)

    want = torch.nn.functional.silu(x.view(10, 10)).softmax(0)
    before = names_of_kernels(call)
    assert not before & {"silu_kernel", "softmax_kernel"}
    library.enable()
    try:
        library.enable()  # again: nothing happens
        assert {"silu_kernel", "softmax_kernel"} <= names_of_kernels(call)
        assert_close(call().cpu(), want)
    finally:
        library.disable()
    library.disable()
    assert names_of_kernels(call) == before
    assert_close(call().cpu(), want)


def test_derivatives_of_replaced_operators(x, enabled):
    here, there = leaves(x)
    for tensor in (here, there):
        torch.nn.functional.silu(tensor).view(10, 10).softmax(1).pow(2).sum().backward()
    assert_close(there.grad.cpu(), here.grad)


def test_replaced_operators_in_a_compiled_function(x, enabled, triton_inductor):
    """Inductor decomposes these two: it generates its own kernel."""
    compiled = torch.compile(lambda x: torch.nn.functional.silu(x) + 1, fullgraph=True)
    found, (text, *_) = run_and_get_code(compiled, x.to("openreg"))
    assert_close(found.cpu(), torch.nn.functional.silu(x) + 1)
    assert "silu_kernel" not in text and "triton_poi_fused" in text

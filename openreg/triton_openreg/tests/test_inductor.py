# Inductor generates Triton for the device; see docs/modules/triton-inductor.md.
import inductor_cases
import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.device_interface import get_interface_for_device
from torch._dynamo.utils import counters
from torch._inductor.utils import run_and_get_code
from torch.testing import assert_close
from while_held import returns_while_held


@pytest.fixture(autouse=True)
def _triton(triton_inductor):
    """All tests of this file compile with Triton, unless they choose again."""


def fuse(x, y):
    return (x * 3 + y.sin()).sum(1) - x[:, 0]


def inputs(device="cpu", size=12):
    torch.manual_seed(0)
    return torch.randn(size, 20).to(device), torch.randn(size, 20).to(device)


def code_of(function, *args):
    _, sources = run_and_get_code(torch.compile(function, fullgraph=True), *args)
    return "\n".join(sources)


def check(function, *args, **options):
    """Compile for the device, and compare with the CPU's eager result."""
    expected = function(*args)
    options = {"rtol": 1e-4, "atol": 1e-4, **options}
    dynamic = options.pop("dynamic", False)
    compiled = torch.compile(function, fullgraph=True, dynamic=dynamic)
    found = compiled(*(arg.to("openreg") for arg in args))
    assert_close(found.cpu(), expected, **options)
    return compiled


# -- the switch --


def test_triton_or_loops(compile_with):
    text = code_of(fuse, *inputs("openreg"))
    assert "@triton.jit" in text and "triton_openreg.launcher" in text
    assert "orKernelAddress" not in text
    compile_with("loops")
    torch._dynamo.reset()
    text = code_of(fuse, *inputs("openreg"))
    assert "@triton.jit" not in text and "orKernelAddress" in text


PROGRAM = """
    import torch
    from torch._inductor.utils import run_and_get_code
    compiled = torch.compile(lambda x: x.exp() + 1)
    _, sources = run_and_get_code(compiled, torch.ones(3, device="openreg"))
    print("triton" if "@triton.jit" in sources[0] else "loops")
"""


@pytest.mark.parametrize("name", ["triton", "loops"])
def test_the_environment_chooses(run_python, name):
    process = run_python(PROGRAM, OPENREG_INDUCTOR=name)
    assert process.stdout == f"{name}\n", process.stderr


def test_another_value_is_an_error(run_python):
    process = run_python(PROGRAM, OPENREG_INDUCTOR="fast")
    assert "ValueError: OPENREG_INDUCTOR" in process.stderr, process.stderr
    assert "must be loops or triton, not 'fast'" in process.stderr


def test_without_triton_the_error_says_what_to_install(run_python):
    program = f"    import sys; sys.modules['triton'] = None{PROGRAM}"
    process = run_python(program, OPENREG_INDUCTOR="triton")
    assert "ImportError: Triton is missing" in process.stderr, process.stderr
    assert "pip install triton" in process.stderr
    assert run_python(program, OPENREG_INDUCTOR="loops").stdout == "loops\n"


def test_a_change_needs_a_registration():
    from torch_openreg._inductor import config

    compiled = torch.compile(lambda x: x.tanh() - 3)
    with config.patch(backend="loops"), pytest.raises(Exception, match=r"register\(\)"):
        compiled(torch.ones(3, device="openreg"))


def test_the_cache_keeps_the_code_generators_apart(compile_with):
    from torch_openreg._inductor import config

    def call(x):
        return x.exp() + 7

    x = torch.ones(3, device="openreg")

    def misses():
        torch._dynamo.reset()
        counters.clear()
        assert_close(torch.compile(call)(x), call(x))
        return counters["inductor"]["fxgraph_cache_miss"]

    assert (misses(), misses()) == (1, 0)
    compile_with("loops")
    assert (misses(), misses()) == (1, 0)
    compile_with("triton")
    assert misses() == 0
    with config.patch(codegen_version="another"):
        assert misses() == 1


# -- kernels --


def test_a_kernel_is_enqueued():
    x, y = inputs("openreg")
    compiled = torch.compile(fuse, fullgraph=True)
    compiled(x, y)
    assert_close(returns_while_held(lambda: compiled(x, y)).cpu(), fuse(*inputs()))


def test_on_another_device_and_stream():
    compiled = torch.compile(fuse, fullgraph=True)
    for device in ("openreg", "openreg:1"):
        compiled(*inputs(device))
    x, y = inputs("openreg:1")
    assert torch.openreg.current_device() == 0
    stream = torch.openreg.Stream(1)
    torch.openreg.synchronize(1)
    # The default stream of device 0 stands still, and nothing waits for it.
    with torch.openreg.simulator.hold():
        result = compiled(x, y)
        torch.openreg.synchronize(1)
        with torch.openreg.simulator.hold(stream), stream:
            compiled(x, y)
            assert not stream.query()
    assert result.device == torch.device("openreg:1")
    assert_close(result.cpu(), fuse(*inputs()))


def test_autotuning_on_another_device():
    """Candidates are timed on the device of the tensors."""
    with torch._inductor.config.patch("max_autotune_pointwise", True):
        x = torch.randn(300, 200)
        compiled = check(lambda x: (x.t() * 2).contiguous().sin(), x)
        assert_close(compiled(x.to("openreg:1")).cpu(), (x.t() * 2).sin())


def test_streams_in_the_graph():
    inductor_cases.streams_in_the_graph()


def test_two_devices_and_the_cpu_in_one_graph():
    inductor_cases.two_devices_and_the_cpu_in_one_graph()


def test_a_graph_of_the_cpu_is_that_of_the_cpu():
    text = code_of(fuse, *inputs())
    assert "@triton.jit" not in text and "cpp_fused" in text


def test_in_a_graph_of_the_device():
    x, y = inputs("openreg")
    compiled = torch.compile(fuse, fullgraph=True)
    stream, graph = torch.openreg.Stream(), torch.accelerator.Graph()
    with stream:
        compiled(x, y)
    with stream, graph:
        result = compiled(x, y)
    x.mul_(2)
    graph.replay()
    cpu = inputs()
    assert_close(result.cpu(), fuse(cpu[0] * 2, cpu[1]))


def test_control_flow():
    def call(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x * 2, (x,))

    compiled = torch.compile(call, fullgraph=True)
    for value in (1.0, -1.0):
        x = torch.full((4,), value)
        assert_close(compiled(x.to("openreg")).cpu(), call(x))


def test_dynamic_shapes():
    compiled = check(
        lambda x: x.softmax(-1) * x.shape[0], torch.randn(7, 9), dynamic=True
    )
    counters.clear()
    x = torch.randn(30, 41)
    assert_close(compiled(x.to("openreg")).cpu(), x.softmax(-1) * 30)
    assert not counters["inductor"]["fxgraph_cache_miss"]


def test_dropout():
    compiled = torch.compile(lambda x: F.dropout(x, 0.3))
    x = torch.ones(100, 100, device="openreg")
    torch.manual_seed(1)
    first = compiled(x)
    torch.manual_seed(1)
    assert_close(compiled(x), first, rtol=0, atol=0)
    assert 0.27 < (first == 0).float().mean().item() < 0.33
    assert not torch.equal(compiled(x), first)


def test_a_failed_assertion_of_the_generated_code():
    compiled = torch.compile(lambda w, i: F.embedding(i, w) * 2)
    weight = torch.randn(30, 4, device="openreg")
    index = torch.tensor([1, 2], device="openreg")
    assert_close(compiled(weight, index), weight[1:3] * 2)
    compiled(weight, index + 50)
    with pytest.raises(torch.AcceleratorError, match="index out of bounds"):
        torch.openreg.synchronize()
    torch.openreg.simulator.reset()


def test_a_program_waits_for_the_device_on_request():
    with torch._inductor.config.patch("triton.debug_sync_graph", True):
        text = code_of(lambda x: x.tan() + 2, torch.ones(3, device="openreg"))
    assert text.count("torch.openreg.synchronize()") >= 2


# -- optimizers --


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_a_compiled_optimizer(name):
    def train(device, wrap):
        torch.manual_seed(0)
        parameters = [torch.randn(n, 3).to(device).requires_grad_() for n in (2, 5)]
        optimizer = getattr(torch.optim, name)(parameters, lr=0.1, foreach=True)
        step = wrap(optimizer.step)
        for number in range(3):
            for parameter in parameters:
                parameter.grad = torch.full_like(parameter, 0.5 - number)
            step()
        return [parameter.detach().cpu() for parameter in parameters]

    found = train("openreg", lambda step: torch.compile(lambda: step()))
    assert_close(found, train("cpu", lambda step: step))


# -- max-autotune --


def test_max_autotune_works_and_says_what_it_does_not_use(caplog):
    from torch_openreg._inductor.triton import warn_of_max_autotune

    warn_of_max_autotune.cache_clear()
    a, b = torch.randn(64, 32), torch.randn(32, 48)
    compiled = torch.compile(
        lambda a, b: torch.relu(a @ b + 1), mode="max-autotune-no-cudagraphs"
    )
    with caplog.at_level("WARNING", "torch_openreg"):
        found = compiled(a.to("openreg"), b.to("openreg"))
    assert_close(found.cpu(), torch.relu(a @ b + 1), rtol=1e-4, atol=1e-4)
    assert "GPU_TYPES" in caplog.text


# -- what torch asks --


def test_the_device_can_run_triton():
    interface = get_interface_for_device("openreg")
    assert interface.is_triton_capable()
    interface.raise_if_triton_unavailable()


def test_the_device_is_none_of_torchs_closed_list():
    """Pinned: what it costs is on the page of known gaps."""
    from torch._inductor.utils import is_gpu
    from torch.utils._triton import has_triton

    assert not is_gpu("openreg")
    assert has_triton() == (torch.__version__ >= "2.14")

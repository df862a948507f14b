# Fused kernels of Inductor are kernels like others; see
# docs/modules/compile-inductor.md.
import inductor_cases
import pytest
import torch
from torch._dynamo.device_interface import get_interface_for_device
from torch._dynamo.utils import counters
from torch.testing import assert_close
from while_held import returns_while_held

pytestmark = pytest.mark.usefixtures("inductor")


def fuse(x, y, factor):
    return (x * factor + y.sin()).sum(1) - x[:, 0]


@pytest.fixture(scope="module")
def fused(inductor):
    """One compiled function for most tests: its C++ is compiled once."""
    return torch.compile(fuse, fullgraph=True, dynamic=False)


def inputs(device, size=12, factor=3.0):
    torch.manual_seed(0)
    x, y = torch.randn(size, 20), torch.randn(size, 20)
    return x.to(device), y.to(device), torch.tensor(factor)


def code_of(function, *args):
    from torch._inductor.utils import run_and_get_code

    _, sources = run_and_get_code(torch.compile(function, fullgraph=True), *args)
    return "\n".join(sources)


def test_values(fused):
    for factor in (3.0, -2.0):  # a number of the CPU in a kernel of the device
        on_device = inputs("openreg", factor=factor)
        assert_close(fused(*on_device).cpu(), fuse(*inputs("cpu", factor=factor)))


def test_a_kernel_is_enqueued_and_has_the_number_of_the_call(fused):
    x, y, factor = inputs("openreg")
    fused(x, y, factor)

    def call():
        result = fused(x, y, factor)
        factor.fill_(100)  # the kernel has not started
        return result

    result = returns_while_held(call)
    assert_close(result.cpu(), fuse(*inputs("cpu")))


def test_on_another_device(fused):
    result = fused(*inputs("openreg:1"))
    assert result.device == torch.device("openreg:1")
    assert_close(result.cpu(), fuse(*inputs("cpu")))
    assert torch.openreg.current_device() == 0


def test_on_the_current_stream(fused):
    x, y, factor = inputs("openreg")
    fused(x, y, factor)
    torch.openreg.synchronize()
    stream = torch.openreg.Stream()
    with torch.openreg.simulator.hold(stream), stream:
        result = fused(x, y, factor)
        assert not stream.query()
        assert torch.openreg.default_stream().query()
    stream.synchronize()
    assert_close(result.cpu(), fuse(*inputs("cpu")))


def test_with_delays(fused):
    with torch.openreg.simulator.delay(200, seed=3):
        results = [fused(*inputs("openreg")) for _ in range(3)]
    for result in results:
        assert_close(result.cpu(), fuse(*inputs("cpu")))


def test_in_a_graph(fused):
    """What a graph records must allocate nothing that a replay would miss."""
    x, y, factor = inputs("openreg")
    stream, graph = torch.openreg.Stream(), torch.accelerator.Graph()
    with stream:
        fused(x, y, factor)
    with stream, graph:
        result = fused(x, y, factor)
    x.mul_(2)
    graph.replay()
    cpu = inputs("cpu")
    assert_close(result.cpu(), fuse(cpu[0] * 2, *cpu[1:]))


def test_a_profile_has_the_name_of_the_fused_kernel(fused):
    activities = torch.profiler.ProfilerActivity
    args = inputs("openreg")
    fused(*args)
    kinds = [activities.CPU, activities.PrivateUse1]
    with torch.profiler.profile(activities=kinds) as profile:
        fused(*args)
        torch.openreg.synchronize()
    names = [event.name for event in profile.events()]
    assert any(name.startswith("cpp_fused_") and "sin" in name for name in names), names


def test_a_fault_names_the_fused_kernel():
    def divide(x, y):
        return x // y + 1

    compiled = torch.compile(divide, fullgraph=True)
    x = torch.tensor([6, 7], device="openreg")
    assert compiled(x, torch.tensor([2, 3], device="openreg")).tolist() == [4, 3]
    compiled(x, torch.tensor([2, 0], device="openreg"))
    with pytest.raises(torch.AcceleratorError, match=r"cpp_fused_.*floor_divide"):
        torch.openreg.synchronize()
    torch.openreg.simulator.reset()


def test_streams_in_the_graph():
    inductor_cases.streams_in_the_graph()


def test_two_devices_and_the_cpu_in_one_graph():
    inductor_cases.two_devices_and_the_cpu_in_one_graph()


def test_the_cache_keeps_versions_of_the_code_generator_apart():
    from torch_openreg._inductor import config

    def call(x):
        return x.exp() + 1

    x = torch.ones(3, device="openreg")

    def hits_and_misses():
        torch._dynamo.reset()
        counters.clear()
        assert_close(torch.compile(call)(x), call(x))
        found = counters["inductor"], counters["aot_autograd"]
        hits = found[0]["fxgraph_cache_hit"] + found[1]["autograd_cache_hit"]
        return hits > 0, found[0]["fxgraph_cache_miss"] > 0

    assert hits_and_misses() == (False, True)
    assert hits_and_misses() == (True, False)
    with config.patch(codegen_version="another"):
        assert hits_and_misses() == (False, True)
    assert hits_and_misses() == (True, False)


def test_control_flow():
    def call(x):
        def larger(x):
            return x.sin() + 1

        def smaller(x):
            return x * 2 - 1

        return torch.cond(x.sum() > 0, larger, smaller, (x,))

    compiled = torch.compile(call, fullgraph=True)
    for value in (1.0, -1.0):
        x = torch.full((4,), value)
        assert_close(compiled(x.to("openreg")).cpu(), call(x))


def test_the_generated_code_has_no_device_guard():
    """Kernels and buffers name their device: pinned, since torch may change it."""
    text = code_of(lambda x: x.tan() + 1, torch.ones(3, device="openreg:1"))
    assert "device='openreg:1'" in text
    assert "openreg::cpu::launch_on(" in text
    assert "set_device" not in text and "torch.openreg.device(" not in text


def test_a_generated_program_waits_for_the_device_on_request():
    with torch._inductor.config.patch("triton.debug_sync_graph", True):
        text = code_of(lambda x: x.tan() + 2, torch.ones(3, device="openreg"))
    assert text.count("torch.openreg.synchronize()") >= 2


# -- what the compiler asks about the device --


NEW_QUESTIONS = {  # of torch 2.15, whose answers are right for this device
    *("exposes_streams", "get_cache_system_info", "get_cpp_device_options", "is_gpu"),
    "get_multi_processor_count",  # asks the properties
}


def test_the_device_interface_is_complete():
    """Every question of torch's class is answered."""
    from torch._dynamo.device_interface import DeviceInterface

    interface = get_interface_for_device("openreg")
    names = [n for n in vars(DeviceInterface) if not n.startswith("__")]
    inherited = {name for name in names if name not in vars(interface)}
    assert inherited - NEW_QUESTIONS == {
        "get_device_properties",  # asks the worker
        "is_dtype_supported",  # asks is_bf16_supported
    }
    assert interface.get_device_properties(1) == torch.openreg.get_device_properties(1)
    assert interface.get_raw_stream(0) == torch.openreg.current_stream().native_handle
    assert interface.is_dtype_supported(torch.bfloat16)
    assert interface.get_compute_capability() == 10
    assert not interface.is_triton_capable()  # see openreg/triton_openreg/tests
    with pytest.raises(RuntimeError, match=r"Triton (is missing|has no backend)"):
        interface.raise_if_triton_unavailable()


def test_a_worker_uses_what_its_parent_asked():
    worker = get_interface_for_device("openreg").Worker
    worker.set_device(1)
    assert worker.current_device() == 1 and torch.openreg.current_device() == 0
    assert worker.get_device_properties() == torch.openreg.get_device_properties(1)
    assert worker.get_device_properties("openreg:0").major == 1
    worker.set_device(0)


@pytest.mark.smoke
def test_nothing_is_registered_before_the_first_compilation(run_python, inductor):
    process = run_python(
        """
        import sys, torch
        loaded = {"torch._inductor.config", "torch._dynamo", "sympy"}
        print(sorted(loaded & sys.modules.keys()))
        print("torch_openreg._inductor" in sys.modules)
        x = torch.ones(3, device="openreg")
        print(torch.compile(lambda x: x.exp() + 1)(x).sum().item() > 11)
        print("torch_openreg._inductor" in sys.modules)
        """,
        TORCHINDUCTOR_CACHE_DIR=inductor,
        TORCHINDUCTOR_VEC_ISA_OK="1",
        TORCHINDUCTOR_COMPILE_THREADS="1",
    )
    assert process.stdout == "[]\nFalse\nTrue\nTrue\n", process.stderr

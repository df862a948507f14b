# Limits of the compiler of torch 2.13; see docs/ship/known-gaps-compiler.md.
#
# A test that fails here is good news: torch has lost a limit. Remove the test, the
# section of the page and the workaround.
import inspect
import re
from pathlib import Path

import pytest
import torch
from torch.utils.checkpoint import checkpoint
from torch_release import has_changed, of_the_pages

TORCH = Path(torch.__file__).parent
DOCS = Path(__file__).parents[3] / "docs"


def ones():
    return torch.ones(2, device="openreg")


def test_no_hook_for_the_device_interface():
    from torch._dynamo import device_interface

    source = inspect.getsource(device_interface.init_device_reg)
    names = re.findall(r'register_interface_for_device\("(\w+)"', source)
    assert names == ["cuda", "xpu", "mtia", "cpu", "mps", "tpu"]


@pytest.mark.parametrize(("backend", "index"), [("eager", 1), ("aot_eager", 0)])
def test_the_block_of_a_device(backend, index):
    def make(x):
        with torch.accelerator.device_index(1):
            return torch.ones_like(x, device="openreg")

    assert torch.compile(make, backend=backend)(ones()).device.index == index


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_the_block_of_a_stream(backend):
    stream = torch.openreg.Stream()

    def call(x):
        with stream:
            return x + 1

    compiled = torch.compile(call, backend=backend)
    compiled(ones())
    x = ones()
    with torch.openreg.simulator.hold(stream):
        y = compiled(x)
        torch.openreg.current_stream().synchronize()  # it ran here, not there
    assert y.tolist() == [2, 2]


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.accelerator.set_device_index(0),
        lambda: torch.accelerator.device_count(),
        lambda: torch.manual_seed(0),
    ],
)
def test_functions_that_break_a_graph(call):
    def function(x):
        call()
        return x + 1

    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(function, backend="eager", fullgraph=True)(ones())
    assert torch.compile(function, backend="eager")(ones()).tolist() == [2, 2]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_no_ahead_of_time_compilation():
    program = torch.export.export(torch.nn.ReLU(), (ones(),))
    with pytest.raises(Exception, match="Device openreg not supported"):
        torch._inductor.aoti_compile_and_package(program)


@of_the_pages
def test_the_places_of_ahead_of_time_compilation_that_name_devices():
    from torch._inductor.codegen.cpp_utils import DEVICE_TO_ATEN

    assert "openreg" not in DEVICE_TO_ATEN and "privateuseone" not in DEVICE_TO_ATEN
    headers = TORCH / "include/torch/csrc/inductor"
    base = (headers / "aoti_runtime/model_base.h").read_text()
    assert 'std::regex re("(cpu|cuda|xpu|mps)(:([0-9]+))?");' in base
    for folder in ("aoti_include", "cpp_wrapper"):
        names = {file.stem for file in (headers / folder).glob("*.h")}
        assert {"cpu", "cuda", "xpu", "mps"} <= names
        assert not {"openreg", "privateuse1", "privateuseone"} & names


# What stands in the lines of torch that the pages name.
LINES = {
    "torch/_inductor/graph.py:2346": "not supported",
    "torch/_inductor/codegen/cpp_wrapper_cpu.py:1706": 'f"aoti_torch_{device}_',
    "torch/_inductor/codegen/cpp_wrapper_cpu.py:2161": "in DEVICE_TO_ATEN",
    "torch/csrc/inductor/aoti_runtime/model_base.h:403": "(cpu|cuda|xpu|mps)",
    "torch/_inductor/codegen/wrapper_fxir.py:311": "CachingAutotuner",
    "torch/_subclasses/fake_impls.py:1821": "_conv_determine_backend_memory_format",
    "torch/_inductor/scheduler.py:7019": "red_numel * red_rnumel",
    "torch/_inductor/lowering.py:1737": "Identity(idx_load[dim]",
    "torch/_prims/rng_prims.py:191": "Backend not supported",
    "torch/utils/_triton.py:200": "triton_supported_devices",
    "torch/_inductor/utils.py:101": "GPU_TYPES",
    "torch/_inductor/utils.py:2034": "is_gpu(layout.device.type)",
    "torch/_dynamo/variables/builder.py:1048": "if has_triton():",
    "torch/_dynamo/variables/builder.py:4059": "unimplemented(",
    "torch/_dynamo/variables/ctx_manager.py:872": "torch.accelerator.device_index",
    "codegen/wrapper.py:3500": "nyi",
    "codegen/common.py:605": '"Scheduling"',
    "ir.py:444": "isinstance(device_scheduling, type)",
    "scheduler.py:7006": "is_cpu()",
    "utils.py:3645": "def device_need_guard",
    "utils.py:4104": "def get_current_backend",
}
PAGES = ("ship/known-gaps-compiler", "modules/compile-inductor")
PAGES += ("modules/compile-wrapper", "modules/export")


@of_the_pages
def test_the_lines_of_torch_that_the_pages_name():
    text = "".join((DOCS / f"{page}.md").read_text() for page in PAGES)
    assert set(re.findall(r"[\w/]+\.(?:py|h):\d+", text)) == LINES.keys()
    folders = (TORCH.parent, TORCH / "include", TORCH / "_inductor")
    for place, expected in LINES.items():
        name, _, number = place.partition(":")
        file = next(folder / name for folder in folders if (folder / name).is_file())
        lines = file.read_text().splitlines()
        assert expected in lines[int(number) - 1], (place, lines[int(number) - 1])


def test_triton_kernels_of_programs_need_another_device():
    from torch.utils._triton import has_triton

    source = inspect.getsource(has_triton)
    if has_changed("has_triton asks the device interfaces"):
        assert "get_registered_device_interfaces()" in source
        return
    table = source[source.index("triton_supported_devices") :].partition("}")[0]
    assert re.findall(r'"(\w+)":', table) == ["cuda", "xpu", "cpu", "mtia"]


def test_inductor_has_a_list_of_gpus():
    from torch._inductor import utils

    if has_changed("GPU_TYPES asks the device interfaces"):
        assert "get_registered_device_interfaces()" in inspect.getsource(utils)
        return
    assert utils.GPU_TYPES == ["cuda", "mps", "xpu", "mtia"]
    assert not utils.is_gpu("openreg")


def test_no_eager_operator_is_compiled_ahead_of_time():
    with torch.library._scoped_library("openreg_gap", "DEF") as library:
        library.define("double(Tensor x) -> Tensor")
        with pytest.raises(
            RuntimeError, match="AOTI for eager does not support OPENREG"
        ):
            library._impl_with_aoti_compile("double", "PrivateUse1")


def test_only_the_cpu_is_exempt_from_new_loops():
    from torch._inductor.scheduler import BaseSchedulerNode, Scheduler

    assert 'device.type == "cpu"' in inspect.getsource(BaseSchedulerNode.is_cpu)
    assert inspect.getsource(Scheduler).count(".is_cpu()") >= 3


def test_loops_of_the_cpp_scheduling_cannot_be_reindexed():
    """Why register() turns an option off; Inductor fails before it generates code."""
    import torch_openreg._inductor

    torch_openreg._inductor.register()
    config = torch._inductor.config
    assert not config.loop_reindexing_after_fusion
    call = torch.compile(lambda x: (x + 1).view(24, 2, 8).softmax(-1))
    x = torch.ones(4, 6, 16, device="openreg")
    with (
        config.patch(loop_reindexing_after_fusion=True),
        pytest.raises(torch._inductor.exc.InductorError, match="multiply sequence"),
    ):
        call(x)


def test_a_concatenation_of_computed_indices():
    """Inductor fails before it generates code, so T5 is trained around it."""

    def pad(x):
        at = torch.arange(4, device=x.device)
        return torch.cat([x[(at - at[:, None]).clamp(max=0).neg()], x.expand(4, 4)], 1)

    x = torch.arange(4.0)
    assert torch.compile(pad)(x).equal(pad(x))
    message = "ValueError: The argument '-1 + ((0))' is not comparable"
    with pytest.raises(torch._inductor.exc.InductorError, match=re.escape(message)):
        torch.compile(pad)(x.to("openreg"))
    limits = ("max_pointwise_cat_inputs", "max_complex_pointwise_cat_inputs")
    with torch._inductor.config.patch(dict.fromkeys(limits, 0)):
        assert torch.compile(pad)(x.to("openreg")).cpu().equal(pad(x))


def test_a_device_that_inductor_does_not_know_has_the_backend_of_cuda():
    from torch._inductor.utils import get_current_backend

    assert get_current_backend("openreg") == "triton"


def test_graphs_as_the_output_of_inductor_contain_triton_kernels_only():
    from torch._inductor.codegen.wrapper_fxir import FxConverter

    source = inspect.getsource(FxConverter._import_kernel)
    assert "if not isinstance(kernel, CachingAutotuner):" in source


def drop(x):
    return torch.nn.functional.dropout(x.sin(), 0.5).exp()


def test_a_checkpoint_refuses_the_random_numbers_of_eager_mode(inductor):
    call = torch.compile(lambda x: checkpoint(drop, x, use_reentrant=False))
    x = torch.ones(4, device="openreg", requires_grad=True)
    with (
        torch._inductor.config.patch(fallback_random=True),
        pytest.raises(Exception, match="Backend not supported for openreg"),
    ):
        call(x)


@pytest.mark.parametrize("device", ["cpu", "openreg"])
def test_a_memory_budget_drops_other_elements_in_the_backward_pass(inductor, device):
    x = torch.ones(256, device=device, requires_grad=True)
    with torch._functorch.config.patch(activation_memory_budget=0.0):
        y = torch.compile(drop)(x)
        y.sum().backward()
    assert not torch.equal(x.grad != 0, y != 1)

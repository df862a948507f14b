# What programs contain, through Inductor, with the values of the CPU; see
# docs/modules/compile-inductor.md. Whole models: test_compile_training.py.
import importlib
from pathlib import Path

import pytest
import torch
import torch._inductor.config as inductor_config
from patience import PATIENCE
from torch import nn
from torch._dynamo.device_interface import get_interface_for_device
from torch._dynamo.utils import counters
from torch._higher_order_ops.while_loop import while_loop
from torch._inductor.async_compile import AsyncCompile, shutdown_compile_workers
from torch._inductor.codegen.common import init_backend_registration
from torch._inductor.exc import InductorError
from torch.testing import assert_close
from torch.utils._pytree import tree_map_only
from torch.utils.checkpoint import checkpoint
from torch_release import has_changed

pytestmark = pytest.mark.usefixtures("inductor")


@pytest.fixture(autouse=True)
def _no_counts():
    counters.clear()


def to_cpu(values):
    return tree_map_only(torch.Tensor, lambda x: x.detach().cpu(), values)


def compare(function, *values, **options):
    """Compile for the device; compare with eager mode there and on the CPU."""
    compiled = torch.compile(function, **{"fullgraph": True, **options})
    results = []
    for call, device in (
        (function, "cpu"),
        (function, "openreg"),
        (compiled, "openreg"),
    ):
        copies = tree_map_only(torch.Tensor, lambda x: x.detach().clone(), values)
        moved = tree_map_only(torch.Tensor, lambda x: x.to(device), copies)  # noqa: B023
        results.append(to_cpu((call(*moved), moved)))  # a program may write its inputs
    on_cpu, eager, fused = results
    assert_close(eager, on_cpu)
    assert_close(fused, on_cpu)


def test_convolutions_of_images_in_channels_last():
    def call(x, weight):
        return nn.functional.conv2d(x, weight, padding=1).relu().flatten(1)

    images = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    compare(call, images, torch.randn(4, 3, 3, 3))


def test_convolutions_that_inductor_changes_to_channels_last():
    net = nn.Sequential(nn.Conv2d(72, 80, 3), nn.ReLU(), nn.MaxPool2d(2))
    weights = dict(net.named_parameters())
    assert inductor_config.layout_optimization  # it changes large convolutions

    def call(x, weights):
        return torch.func.functional_call(net, weights, (x,))

    compare(call, torch.randn(2, 72, 9, 9), weights)


def test_mutation_views_and_indices():
    def call(x, y):
        x.mul_(2)
        y[1:].add_(x[:2])
        values, order = x.sort(1)
        return x.t() + 1, y[:, 1], y.topk(2), values.cumsum(1), order, x.argmax(1)

    compare(call, torch.arange(9.0).view(3, 3).cos(), torch.ones(3, 3))


def test_results_that_share_memory_share_it_when_compiled():
    def call(x):
        return x[1:], x.view(2, 2), x + 1

    x = torch.arange(4.0, device="openreg")
    tail, square, other = torch.compile(call, fullgraph=True)(x)
    x.fill_(7)
    assert tail.tolist() == [7] * 3 and square.tolist() == [[7, 7], [7, 7]]
    assert other.tolist() == [1, 2, 3, 4]


def test_numbers_and_sizes_that_the_values_decide():
    """One graph reads a number back, and allocates what depends on values."""

    def call(x):
        positive = x[x > 0]
        return positive.exp() * x.sum().item(), x.nonzero() + 1

    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        compare(call, torch.tensor([[1.0, -2.0], [0.0, 3.0]]))


def test_a_loop():
    def call(x):
        start = torch.zeros((), dtype=torch.long, device=x.device)
        return while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x * 2 + 1), (start, x)
        )

    compare(call, torch.ones(4))


def test_the_gradient_of_an_embedding():
    table, index = torch.randn(7, 4), torch.tensor([1, 3, 1])

    def call(weight, index):
        return nn.functional.embedding(index, weight).sin().sum()

    def gradient(function, device):
        weight = table.to(device).detach().requires_grad_()
        function(weight, index.to(device)).backward()
        return weight.grad.cpu()

    compiled = torch.compile(call, fullgraph=True)
    expected = gradient(call, "cpu")
    assert_close(gradient(call, "openreg"), expected)
    assert_close(gradient(compiled, "openreg"), expected)


def test_autocast():
    layer, x = nn.Linear(6, 4), torch.randn(5, 6)
    with torch.autocast("cpu", torch.bfloat16):
        expected = layer(x).relu()
    layer.to("openreg")
    compiled = torch.compile(lambda x: layer(x).relu(), fullgraph=True)
    with torch.autocast("openreg", torch.bfloat16):
        actual = compiled(x.to("openreg"))
    assert actual.dtype == expected.dtype == torch.bfloat16
    assert_close(actual.cpu(), expected)
    assert compiled(x.to("openreg")).dtype == torch.float32  # autocast is a guard


def dropped(x):
    return nn.functional.dropout(x.sin(), 0.5).exp()


def checkpointed(x):
    return checkpoint(dropped, x, use_reentrant=False)


def right_gradient(x, y):
    """Whether backward dropped what forward did."""
    expected = torch.where(y != 1, y * 2 * x.cos(), 0)
    return torch.allclose(x.grad, expected, rtol=1e-5)


def call_and_differentiate(function, device="openreg"):
    x = torch.linspace(0.5, 1, 256, device=device, requires_grad=True)
    torch.manual_seed(3)
    y = function(x)
    y.sum().backward()
    assert 80 < (y != 1).sum() < 176
    return x, y.detach()


@pytest.mark.parametrize("fallback", [True, False])
def test_dropout_has_the_seeds_of_eager_mode_where_torch_promises_them(fallback):
    _, eager = call_and_differentiate(dropped)
    with inductor_config.patch(fallback_random=fallback):
        x, y = call_and_differentiate(torch.compile(dropped, fullgraph=True))
    assert torch.allclose(y, eager) == fallback
    assert right_gradient(x, y)


def test_a_checkpoint_drops_again_what_it_dropped():
    backend = "inductor"
    if has_changed("a checkpoint saves the state of seeds"):
        with pytest.raises(InductorError, match=r'in \["cuda", "xpu"\]'):
            call_and_differentiate(torch.compile(checkpointed, fullgraph=True))
        torch._dynamo.reset()
        backend = "aot_eager"
    compiled = torch.compile(checkpointed, backend=backend, fullgraph=True)
    x, y = call_and_differentiate(compiled)
    assert right_gradient(x, y)


def test_a_custom_operator_between_fused_kernels(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "custom"))
    softcap = importlib.import_module("softcap_python").softcap

    def call(x, bias):
        return softcap(x.sin() * 2, bias, 1.5).exp()

    def run(function, device):
        torch.manual_seed(0)
        x, bias = torch.randn(3, 4), torch.randn(4)
        leaves = [t.to(device).detach().requires_grad_() for t in (x, bias)]
        out = function(*leaves)
        out.sum().backward()
        return to_cpu([out, *(leaf.grad for leaf in leaves)])

    assert_close(run(torch.compile(call, fullgraph=True), "openreg"), run(call, "cpu"))


def test_a_dimension_that_is_marked_is_compiled_once():
    compiled = torch.compile(lambda x: (x * x.shape[0]).cos(), fullgraph=True)
    for size in (3, 8, 2):
        x = torch.arange(size * 2.0).view(size, 2)
        on_device = x.to("openreg")
        torch._dynamo.mark_dynamic(on_device, 0)
        assert_close(compiled(on_device).cpu(), (x * size).cos())
    assert counters["stats"]["unique_graphs"] == 1


def test_the_limit_of_recompilation():
    """After it, eager mode: a backend that compiles nothing is enough to see that."""
    graphs = []

    def count(module, _):
        graphs.append(module)
        return module

    def call(x, factor):
        return x * factor

    x = torch.ones(2, device="openreg")
    with torch._dynamo.config.patch(recompile_limit=2):
        compiled = torch.compile(call, backend=count, dynamic=False)
        assert [compiled(x, n).tolist()[0] for n in range(2, 6)] == [2, 3, 4, 5]
        assert len(graphs) == 2

        def other(x, factor):
            return x * factor

        strict = torch.compile(other, backend=count, dynamic=False, fullgraph=True)
        with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
            for n in range(6, 10):
                strict(x, n)


@pytest.mark.parametrize(
    "mode", ["max-autotune", "reduce-overhead", "max-autotune-no-cudagraphs"]
)
def test_modes(mode):
    """Two compile, and record nothing: torch records graphs on CUDA only."""
    compare(lambda x: (x @ x).relu() + 1, torch.randn(8, 8), mode=mode)
    assert ("cudagraph_skips" in counters["inductor"]) == ("-no-" not in mode)


def test_compiled_autograd():
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).to("openreg")
    x = torch.randn(3, 4, device="openreg")
    net(x).sum().backward()
    expected = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    with torch._dynamo.config.patch(compiled_autograd=True):

        @torch.compile(backend="aot_eager")
        def step(x):
            net(x).sum().backward()

        step(x)
    assert counters["compiled_autograd"]["captures"] == 1
    assert_close([p.grad for p in net.parameters()], expected)


def test_kernels_compile_in_threads():
    """With more than one thread a kernel is a promise until its first call."""
    with inductor_config.patch(compile_threads=2):
        compare(lambda x: x.cosh() + 1, torch.randn(5))


def what_a_worker_finds():
    worker = get_interface_for_device("openreg").Worker
    worker.set_device(1)
    return worker.current_device(), worker.get_device_properties().name


def test_a_compile_worker_is_a_fork_that_asks_nothing_of_the_driver():
    init_backend_registration()  # before the first compilation there is no interface
    torch.ones(2, device="openreg").add_(1)  # a stream with a thread, which no fork has
    with inductor_config.patch(compile_threads=2, worker_start_method="fork"):
        try:
            found = (
                AsyncCompile.process_pool().submit(what_a_worker_finds).result(PATIENCE)
            )
        finally:
            shutdown_compile_workers()
    assert found == (1, torch.openreg.get_device_properties(1).name)
    assert get_interface_for_device("openreg").Worker.current_device() == 0

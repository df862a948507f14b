# A device that only compiles graphs; see docs/modules/graph-only.md.
import json
import operator
import subprocess
import sys
from contextlib import nullcontext

from graph_only_support import EXAMPLES, on_device

# isort: split
import pytest
import torch
from graph_only import (
    TOY,
    Binary,
    ChipError,
    DeferredEager,
    GraphCache,
    GraphEager,
    Target,
    build,
    compile_graph,
    compile_whole,
    counted,
    load,
    lower,
    save,
)
from graph_only.eager import MEMORY
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # export's own
nn = torch.nn
F = nn.functional


@pytest.fixture(params=["eager", "deferred"])
def mode(request):
    return GraphEager() if request.param == "eager" else DeferredEager()


# The three ways train like the CPU.


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(16, 8), nn.LayerNorm(8)
        self.project, self.out, self.head = (
            nn.Linear(8, 24),
            nn.Linear(8, 8),
            nn.Linear(8, 5),
        )

    def forward(self, tokens):
        x = self.embed(tokens)
        q, k, v = self.project(self.norm(x)).chunk(3, -1)
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, -1)
        return self.head(F.gelu(x + self.out(weights @ v))).mean(1)


def cnn():
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(36, 5)),
    )


def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5))


MODELS = {
    "mlp": (mlp, lambda: torch.randn(4, 6), torch.optim.Adam),
    "cnn": (cnn, lambda: torch.randn(4, 1, 8, 8), torch.optim.SGD),
    "attention": (Attention, lambda: torch.randint(0, 16, (4, 6)), torch.optim.SGD),
}


def train(name, device, context=None, backend=None):
    make, batch, optimizer = MODELS[name]
    torch.manual_seed(0)
    model = make().to(device)
    forward = torch.compile(model, backend=backend) if backend else model
    step = optimizer(model.parameters(), lr=0.01, foreach=False)
    losses = []
    with context or nullcontext():
        for _ in range(3):
            step.zero_grad()
            labels = torch.randint(0, 5, (4,)).to(device)
            loss = F.cross_entropy(forward(batch().to(device)), labels)
            loss.backward()
            step.step()
            losses.append(loss.detach())
            if isinstance(context, DeferredEager):
                context.mark_step()
    return torch.stack(losses).cpu(), [x.cpu() for x in model.state_dict().values()]


@pytest.mark.parametrize("name", MODELS)
def test_eager_trains(name):
    with counted() as counts:
        result = train(name, "openreg", GraphEager(missing="error"))
    assert_close(result, train(name, "cpu"))
    assert 0 < counts.compilations < counts.launches and not counts.host


@pytest.mark.parametrize("name", MODELS)
def test_deferred_trains_with_few_graphs(name):
    deferred = DeferredEager(missing="error")
    with counted() as counts:
        result = train(name, "openreg", deferred)
    assert_close(result, train(name, "cpu"))
    assert counts.launches == 3 and not counts.host
    assert deferred.flushes == {"mark_step": 3}


@pytest.mark.parametrize("name", MODELS)
def test_whole_graphs_train(name):
    with counted() as counts:
        result = train(name, "openreg", backend=compile_whole)
    assert_close(result, train(name, "cpu"))
    assert counts.compilations == 2 and counts.launches == 6  # forward and backward
    assert not counts.host


# Eager through the compiler.


class Calls(TorchDispatchMode):
    """What reaches the device: the calls that a mode above this one makes."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **kwargs or {})
        values = tree_flatten((args, result))[0]
        real = [x for x in values if type(x) in (torch.Tensor, nn.Parameter)]
        if any(x.device.type == "openreg" for x in real):
            self.names.add(func._schema.name.removeprefix("aten::"))
        return result


def test_only_memory_and_views_reach_the_device():
    x, y = on_device(2, 3).requires_grad_(), on_device(3)
    with Calls() as calls, GraphEager():
        F.softmax(x @ y + 1, -1).sum().backward()
        x.grad.t().add_(1)
    views = {"alias", "detach", "expand", "t", "unsqueeze", "view"}
    assert calls.names - {"to"} <= MEMORY | views


def test_an_operator_is_compiled_once_for_its_key():
    x = on_device(2, 3)
    with GraphEager(), counted() as counts:
        for _ in range(3):
            y = x + 1
        assert_close(y.cpu(), x.cpu() + 1)
    assert (counts.compilations, counts.launches) == (1, 3)
    changes = [
        lambda: x + 2,  # options
        lambda: x.bfloat16() + 1,  # dtype, with a conversion
        lambda: on_device(3, 2) + 1,  # shape
        lambda: x - 1,  # operator
        lambda: x.to("openreg:1") + 1,  # device
    ]
    with GraphEager() as eager, counted() as counts:
        x + 1
        for change in changes:
            change()
    assert counts.compilations == 2 + len(changes) == len(eager.cache)


def test_symbolic_sizes_share_a_binary():
    with GraphEager(dynamic=True), counted() as counts:
        for n in (2, 3, 5, 4):
            x = on_device(n, 4)
            assert_close((x @ x.t()).cpu(), x.cpu() @ x.cpu().t())
    assert (counts.compilations, counts.launches) == (
        2,
        4,
    )  # 4, 4 is another pattern
    with GraphEager(dynamic=True), counted() as counts:
        for n in (2, 3, 5, 1):
            assert_close(on_device(n).exp().cpu(), torch.arange(float(n)).exp())
    assert counts.compilations == 2  # 1 is no symbol
    with GraphEager(dynamic=True), counted() as counts:
        for n in (4, 6, 7):  # the graph of a pooling checks sizes, so it has fixed ones
            x = on_device(1, 1, n, n)
            assert_close(F.max_pool2d(x, 2).cpu(), F.max_pool2d(x.cpu(), 2))
    assert counts.compilations == 3


PROGRAMS = {
    "in place": lambda x: x.add_(1).mul_(x),
    "view": lambda x: x[0].add_(5),
    "view of a view": lambda x: x.t()[1:].mul_(2),
    "copy": lambda x: x[1].copy_(x[0] + 1),
    "set item": lambda x: x.__setitem__((slice(None), 1), 9.0),
    "convert": lambda x: x.copy_(x.to(torch.bfloat16) * 2),
    "index put": lambda x: x.index_put_((torch.arange(1, device=x.device),), x[1] + 0),
    "fill": lambda x: torch.add(x.zero_(), x.new_ones(3), alpha=2, out=x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_writes(name, mode):
    results = []
    for device in ("cpu", "openreg"):
        x = torch.arange(6.0).view(2, 3).to(device)
        alias = x.view(-1)
        with mode if device == "openreg" else nullcontext():
            PROGRAMS[name](x)
            y = alias + 1
        results.append([x.cpu(), alias.cpu(), y.cpu()])
    assert_close(*results)


def test_out_and_results_that_are_arguments(mode):
    x, out = on_device(2, 3), torch.empty(0, device="openreg")
    with mode:
        assert torch.mul(x, 2, out=out) is out and out.shape == x.shape
        assert x.add_(1) is x
    assert_close(out.cpu() + 2, x.cpu() * 2)


def test_second_derivatives(mode):
    x = on_device(3).requires_grad_()
    with mode:
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        slope.sum().backward()
    assert_close(x.grad.cpu(), 6 * torch.arange(3.0))


def test_random_numbers_follow_the_seed(mode):
    def draw():
        x = torch.ones(64, device="openreg")
        return torch.rand(3, device="openreg"), F.dropout(x), x.normal_().clone()

    with mode:
        torch.manual_seed(3)
        host = torch.get_rng_state()
        first, second = draw(), draw()
        assert torch.equal(torch.get_rng_state(), host)
        torch.manual_seed(3)
        again = draw()
    for one, two, three in zip(first, second, again, strict=True):
        assert torch.equal(one.cpu(), three.cpu())
        assert not torch.equal(one.cpu(), two.cpu())


def test_what_the_compiler_lacks_runs_on_the_host(mode):
    x = on_device(2, 3)
    with mode, counted() as counts:
        y, places = (x + 1).lgamma(), x.nonzero()
    assert_close(y.cpu(), (x.cpu() + 1).lgamma())
    assert_close(places.cpu(), x.cpu().nonzero())
    assert counts.host == {"aten.lgamma.default": 1, "aten.nonzero.default": 1}


def test_errors_have_the_name_of_the_operator():
    x = on_device(2, 3)
    with GraphEager(missing="error"):
        with pytest.raises(
            ChipError, match=r"no aten.lgamma.default for torch.float32"
        ):
            x.lgamma()
        with pytest.raises(ChipError, match=r"no .* for torch.float64"):
            x.double()
        with pytest.raises(ChipError, match=r"aten.nonzero.default's result depend"):
            x.nonzero()
        with pytest.raises(RuntimeError, match="same device"):
            x + torch.ones(3)
        with pytest.raises(ChipError, match="a generator cannot be"):
            x.normal_(generator=torch.Generator("openreg"))


# The cache.


def test_memory_of_the_cache_is_bounded():
    cache = GraphCache(capacity=2)
    x = on_device(2)
    with GraphEager(cache), counted() as counts:
        for call in (torch.exp, torch.log, torch.exp, torch.tanh, torch.exp, torch.log):
            call(x)
    assert len(cache) == 2 and cache.evictions == 2
    assert counts.compilations == 4  # the logarithm again, as it was used least


def test_disk_warms_another_cache(tmp_path):
    x = on_device(2)
    for capacity, compiled in ((4, 3), (4, 0), (1, 0)):
        with GraphEager(GraphCache(capacity, tmp_path)), counted() as counts:
            assert_close((x.exp() + 1).sum().cpu(), (x.cpu().exp() + 1).sum())
        assert counts.compilations == compiled
    cache = GraphCache(2, tmp_path)
    assert cache.warm() == len(cache) == 2
    cache.prune(1)
    assert GraphCache(2, tmp_path).warm() == 1
    assert GraphCache().warm() == 0


# Whole graphs.


def test_layouts_sizes_and_mutation_of_compiled_functions():
    def call(x):
        x.add_(1)
        y = x.t() + 1
        return y.t(), y

    function = torch.compile(call, backend=compile_whole, dynamic=True)
    with counted() as counts:
        for n in (2, 3, 4):
            x, same = on_device(n, 5), on_device(n, 5).cpu()
            results, expected = function(x), call(same)
            for result, one in zip((*results, x), (*expected, same), strict=True):
                assert_close(result.cpu(), one)
                assert result.stride() == one.stride()
    assert counts.compilations == 1
    assert torch.compile(call, backend=compile_whole)(torch.ones(2, 2))[1][0, 0] == 3


def test_segments():
    def call(x):
        return (x + 1).lgamma().exp() * 2

    x = on_device(3)
    with counted() as counts:
        result = torch.compile(call, backend=compile_whole)(x)
    assert_close(result.cpu(), call(x.cpu()))
    assert counts.launches == 2 and counts.host == {"aten.lgamma.default": 1}
    refuse = torch.compile(
        lambda x: x.lgamma(), backend=lambda *a: compile_whole(*a, missing="error")
    )
    with pytest.raises(Exception, match=r"toy-1 has no aten.lgamma.default"):
        refuse(x)


PROGRAM = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from graph_only import build, save
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU())
save(sys.argv[2], *build(model, (torch.ones(4, 6),)))
print(torch._C._get_privateuse1_backend_name(), hasattr(torch, "openreg"))
"""


def test_a_host_without_the_device_compiles(tmp_path):
    path = tmp_path / "model.zip"
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM, EXAMPLES, path],
        env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == "privateuseone False\n"
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU())
    x = torch.randn(4, 6)
    with counted() as counts:
        (result,) = load(path, "openreg")(x.to("openreg"))
    assert_close(result.cpu(), model(x))
    assert (counts.compilations, counts.launches) == (0, 1)


def test_an_artifact_for_another_chip(tmp_path):
    other = Target("toy-0", TOY.operators - {"exp"}, TOY.dtypes)
    with pytest.raises(ChipError, match=r"toy-0 has no aten.exp.default"):
        build(Exp(), (torch.ones(2),), other)
    old = Target("toy-0", TOY.operators, TOY.dtypes)
    save(tmp_path / "old.zip", *build(Exp(), (torch.ones(2),), old))
    with pytest.raises(ChipError, match="is for toy-0, not toy-1"):
        load(tmp_path / "old.zip", "openreg")
    with pytest.raises(ChipError, match="writes to a buffer"):
        build(nn.BatchNorm1d(2), (torch.ones(2, 2),))


class Exp(nn.Module):
    def forward(self, x):
        return x.exp()


# The compiler.


def test_the_compiler_takes_functional_graphs_only():
    traced = make_fx(lambda x: x.add_(1))(torch.ones(2))
    with pytest.raises(ChipError, match=r"aten.add_.Tensor writes to its argument"):
        compile_graph(traced)
    module = torch.fx.symbolic_trace(lambda x: torch.exp(x))
    with pytest.raises(ChipError, match="exp is no operator of ATen"):
        compile_graph(module)


def test_a_constant_must_be_an_input():
    constant = torch.ones(2)
    with pytest.raises(ChipError, match="get_attr _tensor_constant0 must be an input"):
        compile_graph(make_fx(lambda x: x + constant)(torch.ones(2)))


def test_a_binary_is_text():
    binary = compile_graph(*lower(lambda x: x.add_(1).sum(), [torch.ones(2)]))
    text = binary.dumps()
    assert Binary.loads(text) == binary
    steps = json.loads(text)["segments"][0]["instructions"]
    assert [x["target"] for x in steps] == ["aten.add.Tensor", "aten.sum.dim_IntList"]
    x = on_device(2)
    (total,) = Binary.loads(text).run([x], x.device)
    assert total.item() == 3 and operator.eq(x.tolist(), [1, 2])

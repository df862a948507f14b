# A Dynamo backend of one's own; see docs/modules/compile-dynamo.md.
import copy

import pytest
import torch
from torch.testing import assert_close


def compiled(function, **options):
    return torch.compile(function, backend="openreg", **options)


def losses(make, device, backend):
    """Train with batches of two sizes; what the model learns depends on each step."""
    torch.manual_seed(0)
    net = make().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    forward = torch.compile(net, backend=backend) if backend else net
    values = []
    for size in (5, 5, 4, 5, 4):
        optimizer.zero_grad()
        loss = forward(torch.randn(size, 6).to(device)).square().mean()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    return values, [x.detach().cpu() for x in net.state_dict().values()]


def network():
    nn = torch.nn
    return nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8, affine=False), nn.GELU(), nn.Linear(8, 3)
    )


def test_training():
    assert_close(losses(network, "openreg", "openreg"), losses(network, "cpu", None))


def test_a_graph_is_recorded_once_for_each_size():
    def call(x):
        return (x + 1).relu().sum()

    function = compiled(call, dynamic=True)
    x = torch.ones(1000, device="openreg")
    function(x)  # records
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU]
    ) as profile:
        assert function(x * 2).item() == 3000
    names = {event.name for event in profile.events()}
    assert "aten::relu" not in names and "aten::copy_" in names
    assert function(torch.ones(7, device="openreg")).item() == 14


def test_mutation_and_views():
    def call(x, y):
        x.add_(1)
        return x[1:], y.t() * 2

    results = []
    for function, device in ((call, "cpu"), (compiled(call), "openreg")):
        x, y = torch.arange(4.0).to(device), torch.arange(6.0).view(2, 3).to(device)
        for _ in range(3):
            results.append([x.to("cpu", copy=True) for x in (*function(x, y), x)])
    assert_close(results[:3], results[3:])


def test_random_numbers_differ_in_each_call():
    function = compiled(lambda x: torch.rand_like(x))
    x = torch.ones(8, device="openreg")
    first = function(x)
    torch.openreg.manual_seed(4)
    second, third = function(x), function(x)
    assert not torch.equal(second, third) and not torch.equal(first, second)
    torch.openreg.manual_seed(4)
    assert torch.equal(function(x), second)


def test_what_no_graph_can_hold_runs_without_one():
    function = compiled(lambda x: x.hypot(x) + 1)  # it falls back to the CPU
    for value in (1.0, 2.0):
        x = torch.full((3,), value)
        assert_close(function(x.to("openreg")).cpu(), x.hypot(x) + 1)


@pytest.mark.smoke
def test_in_a_fresh_process(run_python):
    """The name is known, CPU graphs reach Inductor, and torch is not slower."""
    process = run_python(
        """
        import sys, torch
        assert "torch._dynamo" not in sys.modules
        assert "torch_openreg._dynamo" not in sys.modules
        torch.compiler.set_default_backend("openreg")
        print(torch.compile(lambda x: x + 1)(torch.ones(2, device="openreg")).tolist())
        assert "torch._inductor.compile_fx" not in sys.modules
        asked = []
        def inductor(module, inputs):
            asked.append(len(inputs))
            return module
        torch._dynamo.backends.registry._COMPILER_FNS["inductor"] = inductor
        print(torch.compile(lambda x: x + 1)(torch.ones(2)).tolist(), asked)
        """
    )
    assert process.stdout == "[2.0, 2.0]\n[2.0, 2.0] [1]\n", process.stderr


def test_a_copied_model_is_compiled_on_its_own():
    net = torch.nn.Linear(3, 2).to("openreg")
    other = copy.deepcopy(net)
    x = torch.ones(1, 3, device="openreg")
    y = compiled(net)(x)
    with torch.no_grad():
        other.weight.zero_()
    assert_close(compiled(other)(x)[0], other.bias)
    assert_close(compiled(net)(x), y)


@pytest.mark.parametrize("size", range(1, torch._dynamo.config.recompile_limit + 2))
def test_what_earlier_tests_compiled_does_not_count(size):
    net = torch.nn.Linear(size, 2).to("openreg")
    x = torch.ones(1, size, device="openreg")
    with torch.no_grad():
        assert_close(torch.compile(net, backend="eager", fullgraph=True)(x), net(x))

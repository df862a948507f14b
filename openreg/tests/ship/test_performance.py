# What the timed calls do; no test compares times; see docs/ship/performance.md.
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.openreg import simulator
from torch.profiler import profile

OPENREG = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def budget():
    return SimpleNamespace(**runpy.run_path(str(OPENREG / "benchmarks/budget.py")))


@pytest.fixture(scope="module")
def steps():
    file = OPENREG / "tests/examples/performance/steps.py"
    return SimpleNamespace(**runpy.run_path(str(file)))


@pytest.fixture
def names(budget):
    return budget.operands("openreg")


def counts(work):
    with profile() as prof:
        work()
    return {row.key: row.count for row in prof.key_averages()}


def device_allocations():
    return torch.accelerator.memory_stats()["num_device_alloc"]


def test_each_station_does_one_thing_more(budget, names):
    launches, allocations, nodes = [], [], []
    for statement in budget.STATIONS:
        stats = torch.accelerator.memory_stats
        before = stats()["allocation.all.allocated"]
        result = eval(statement, names)
        allocations.append(stats()["allocation.all.allocated"] - before)
        nodes.append(getattr(result, "grad_fn", None) is not None)
        found = counts(lambda statement=statement: eval(statement, names))
        launches.append(found.get("orLaunchKernel", 0))
    assert launches == [0, 0, 0, 1, 1, 1]
    assert allocations == [0, 0, 0, 0, 1, 1]
    assert nodes == [False] * 5 + [True]


def test_the_timed_calls_cost_what_their_rows_say(names):
    with torch.openreg.fallbacks() as fallbacks:
        torch.hypot(names["x"], names["y"])
    assert fallbacks
    torch.openreg.synchronize()
    with simulator.hold() as stream:
        names["target"].copy_(names["pinned"], non_blocking=True)
        assert not stream.query()  # the call did not wait
    waits = counts(lambda: names["target"].copy_(names["host"]))
    assert waits["orStreamSynchronize"] == 1


def test_the_cache_serves_the_second_request(budget):
    before = device_allocations()
    budget.driver_time()
    assert device_allocations() == before + 1
    torch.empty(1 << 24, device="openreg")
    assert device_allocations() == before + 1
    budget.driver_time()
    assert device_allocations() == before + 2


def test_the_tables_have_a_number_in_each_row(budget):
    for table, size in ((budget.stations, 11), (budget.costs, 7)):
        rows = table(1)
        assert len(rows) == size
        lines = budget.table(rows).splitlines()
        assert {line.count("|") for line in lines} == {6}
    totals = [row for row in budget.stations(1) if "together" in row[0]]
    assert len(totals) == 1 and totals[0][2] > 0


def test_a_kernel_is_timed_on_the_device(budget):
    assert budget.kernel_time() > 0


def test_both_steps_compute_the_same(steps):
    x, weight = steps.operands()
    right = steps.quick(x.cpu(), weight.cpu())
    torch.testing.assert_close(steps.slow(x, weight).cpu(), right)
    torch.testing.assert_close(steps.quick(x, weight).cpu(), right)


def test_only_one_step_waits(steps):
    x, weight = steps.operands()
    slow, quick = (counts(lambda s=s: s(x, weight)) for s in (steps.slow, steps.quick))
    assert slow["orStreamSynchronize"] == 5 and slow["openreg::cpu_fallback"] == 1
    assert "orStreamSynchronize" not in quick and "openreg::cpu_fallback" not in quick

# The ways of the sweep with views, settings and mistakes; see docs/ship/sweep.md.
import dataclasses
import json

import pytest
import torch
from sweep import runner
from sweep.calls import outcome, with_warnings
from sweep.cases import OPERATORS, Case, Verdict, samples
from sweep.launch_ways import launched
from sweep.mirror import mirror, parts, tensors
from sweep.mistakes import mistakes
from sweep.view_ways import OTHER_VALUES, SAME_VALUES, Overlap, in_place_view, out_view
from sweep.views import in_gaps, memories, view_in_memory
from torch.testing._internal.opinfo.core import OpInfo, SampleInput


def operator(function, **more):
    return OpInfo("own", op=function, dtypes={torch.float32}, **more)


def sample(*values, device="openreg"):
    made = [torch.tensor(value).to(device) for value in values]
    return SampleInput(made[0], args=tuple(made[1:]))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2), (2, 3, 4)])
def test_a_view_has_gaps_on_all_sides(shape, transposed):
    view = view_in_memory(shape, torch.float32, "cpu", transposed=transposed)
    memory = memories(view)[0]
    assert view.shape == shape
    assert memory.isnan().all()
    view.fill_(1)
    assert (memory == 1).sum() == view.numel()
    assert memory[[0, -1]].isnan().all()


def test_a_sample_in_gaps_has_the_same_values_and_shares_what_it_shared():
    made = sample([[1.0, 2.0], [3.0, 4.0]], [5, 6], device="cpu")
    made.args += (made.input,)
    copy = mirror(in_gaps(made), "openreg")
    one, two, again = tensors(parts(copy))
    assert one is again
    assert not one.is_contiguous()
    assert not two.is_contiguous()
    assert torch.equal(one.cpu(), made.input)
    assert torch.equal(two.cpu(), made.args[0])


def test_a_write_beside_a_view_shows():
    def beside(x, *, out):
        out.as_strided((1,), (1,), 0).fill_(0)
        return out.copy_(x)

    def run(function):
        op = operator(
            lambda x, out=None: x * 1 if out is None else function(x, out=out)
        )
        (_, memory, _), *_ = out_view(op, sample([1.0, 2.0]))
        return memory[0].isnan().sum().item()

    def right(x, *, out):
        return out.copy_(x)

    assert run(right) == run(beside) + 1


def test_a_view_gets_the_gradient_of_what_happened_in_place():
    op = operator(torch.mul, inplace_variant=lambda x: x.mul_(3))
    made = mirror(in_gaps(sample([1.0, 2.0], device="cpu")), "openreg")
    result, (gradients, overlap) = in_place_view(op, made)
    assert result.tolist() == [3, 6]
    rows, (gradient,) = gradients
    assert rows.tolist() == [[1, 2], [3, 6]]
    torch.manual_seed(1)
    weights = torch.randn(2, 2)
    torch.testing.assert_close(gradient.cpu(), weights * torch.tensor([[1.0], [3.0]]))
    assert overlap.what == "raises RuntimeError"


def test_what_a_device_may_do_with_memory_that_overlaps():
    refused, same, other = "raises RuntimeError", SAME_VALUES, OTHER_VALUES

    def may(what, expected, in_part=True):
        return Overlap(what, in_part) == Overlap(expected, in_part)

    assert all(may(what, other) for what in (refused, same, other))
    assert may(refused, refused) and may(same, same) and may(refused, same)
    assert not may(refused, same, in_part=False)
    assert not may(other, same) and not may(same, refused) and not may(other, refused)


def test_a_kernel_launched_with_settings_runs_with_others():
    seen = []

    def function(x):
        y = x + 1
        seen.append(
            (torch.get_default_dtype(), torch.accelerator.current_stream().query())
        )
        return y

    made = sample([1.0, 2.0])
    torch.accelerator.synchronize()
    launched(operator(function), made)
    torch.accelerator.synchronize()
    dtypes = [torch.float64, torch.float16, torch.float64, torch.float32]
    assert seen == [(dtype, False) for dtype in dtypes]  # no kernel has run
    assert torch.get_default_dtype() == torch.float32
    assert not torch.are_deterministic_algorithms_enabled()


def test_an_operator_that_waits_is_not_held_for_ever():
    result = launched(operator(lambda x: x.sum().item()), sample([1.0, 2.0]))
    assert result[0] == result[1] == result[3] == 3


def test_mistakes_change_one_argument_each():
    made = samples(Case("sum", "float32", "forward"), None)[-1]
    made.kwargs = {"dim": 0, "keepdim": True}
    shown = [(x.input.dtype, x.input.shape, x.kwargs) for x in mistakes(made)]
    right = (made.input.dtype, made.input.shape, made.kwargs)
    for one in shown:
        assert sum(a != b for a, b in zip(one, right, strict=True)) == 1
    assert {x[2]["dim"] for x in shown} == {0, 7, -9}


def test_an_error_is_a_result_and_so_is_a_warning():
    def fails():
        raise IndexError("only here")

    assert outcome(fails) == "raises IndexError"
    resized = torch.ones(3, device="openreg")
    _, warned = with_warnings(lambda: torch.add(resized[:1] + 1, 1, out=resized))
    assert warned.startswith("An output with one or more elements was resized")
    assert with_warnings(lambda: 1) == (1, "")


def test_a_worker_that_does_not_start_is_told(monkeypatch):
    monkeypatch.setattr(runner, "WORKER", "sweep.absent")
    cases = [Case("sin", "float32", "forward")]
    with pytest.raises(RuntimeError, match=r"checked nothing: .*No module named"):
        runner.run_all(cases, {"float32": 1})


def test_the_progress_counts_cases(monkeypatch):
    monkeypatch.setattr(runner, "INTERVAL", 0.01)
    counts = []
    cases = [Case(name, "float32", "forward") for name in ("abs", "add", "mul")]
    runner.run_all(cases, {"float32": 1}, progress=counts.append)
    assert counts == sorted(counts)
    assert set(counts) <= {0, 1, 2, 3}
    assert len(counts) > 3
    assert len(OPERATORS) > 700


def test_a_stopped_run_goes_on(tmp_path):
    cases = [Case("abs", "float32", "forward"), Case("neg", "float32", "forward")]
    done = Verdict(*cases[0], "right", "of the first run", samples=7)
    started = Verdict(*cases[1], "started")
    lines = [json.dumps(dataclasses.asdict(one)) for one in (done, started)]
    (tmp_path / "first").write_text("\n".join(lines) + '\n{"operator": "n')
    found = runner.run_all(cases, {"float32": 1}, folder=tmp_path)
    assert found[0] == done  # did not run again
    assert (found[1].verdict, found[1].samples) == ("right", 1)

# The soak runs, and it finds faults; see docs/ship/robustness.md.
import dataclasses
import json
import time

import hypothesis
import pytest
import torch
from hypothesis.stateful import run_state_machine_as_test
from run_soak import table
from soak import last_run, twins
from soak.programs import Programs
from soak.round import ROUNDS
from soak.runs import RUNS, Outcome, Run, repeat

SHORT = hypothesis.settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.generate],
    report_multiple_bugs=False,
)


@pytest.fixture(autouse=True)
def _afterwards():
    yield
    torch.openreg.simulator.reset()


@pytest.mark.parametrize("size", [0, 1, 2, 12])
def test_each_function_takes_tensors_of_every_size(size):
    """A program would stop at an error that the CPU also raises."""
    host = torch.arange(float(size))
    for function in twins.UNARY:
        result = twins.apply(function, host.to("openreg"))
        assert torch.equal(result.cpu(), twins.apply(function, host))
    for function in twins.BINARY:
        result = twins.apply(function, *2 * [host.to("openreg")])
        assert torch.equal(result.cpu(), twins.apply(function, host, host))
    for function in twins.IN_PLACE:
        changed, expected = host.to("openreg"), host.clone()
        function(changed)
        function(expected)
        assert torch.equal(changed.cpu(), expected)


def test_random_programs():
    Programs.calls = calls = {}
    run_state_machine_as_test(Programs, settings=SHORT)
    assert len(calls) > 12, calls  # kinds of calls
    assert sum(calls.values()) > 100


def reuse_what_a_stream_reads(program):
    """Free a tensor that a held stream reads, and write to the same memory."""
    side = program.streams[0][1]
    with torch.openreg.simulator.hold(side):
        program.compute(which=0, pick=1, function=torch.neg, event=False)
        program.free(which=0)
        program.make(5000, 7, device=0, pick=0, whole=True)
        torch.openreg.default_stream().synchronize()


def read_what_a_stream_writes(program):
    """Change a tensor on a held stream, and compute with it on another one."""
    with torch.openreg.simulator.hold(program.streams[0][1]):
        program.change(which=0, pick=1, function=lambda x: x.add_(1))
        program.compute(which=0, pick=2, function=torch.neg, event=False)
        for _ in range(100):  # without an order, it does not wait for the held one
            if program.streams[0][2].query():
                break
            time.sleep(0.01)


@pytest.mark.parametrize("left_out", ["wait", "record_stream", None])
def test_programs_find_a_twin_without_order(monkeypatch, left_out):
    def use_on(self, stream, event=None):
        for other in self.memory.streams - {stream}:
            if left_out != "wait":
                stream.wait_stream(other)
        if left_out != "record_stream":
            self.device.record_stream(stream)
        self.memory.streams.add(stream)

    monkeypatch.setattr(twins.Twin, "use_on", use_on)
    wrong = []
    for written in (read_what_a_stream_writes, reuse_what_a_stream_reads):
        program = Programs()
        program.begin([5000])
        torch.openreg.synchronize()
        written(program)
        try:
            program.teardown()
        except AssertionError:
            wrong.append(written)
    expected = {
        "wait": [read_what_a_stream_writes],
        "record_stream": [reuse_what_a_stream_reads],
    }
    assert wrong == expected.get(left_out, [])


@pytest.mark.parametrize(
    ("kind", "calls"),
    [
        ("ranks", {"collectives": 200, "ranks killed": 1}),
        ("shared memory", {"tensors sent": 30, "receivers killed": 14}),
        ("loaders", {"workers killed": 1}),
        ("streams", {"streams": 1000}),
    ],
)
def test_a_round_with_processes_or_streams(kind, calls):
    outcome = repeat(Run(kind), 0, 5, {})
    assert not outcome.error
    assert outcome.calls.items() >= calls.items()


def test_a_process_that_fails_is_told():
    outcome = repeat(Run("nothing"), 0, 1, {})
    assert not outcome.calls
    assert "KeyError: 'nothing'" in outcome.error
    assert "exit status 1" in outcome.error


def test_the_table_and_the_record(tmp_path, monkeypatch):
    outcomes = [Outcome(run, 1, {"make": 2}) for run in RUNS]
    outcomes += [dataclasses.replace(outcomes[0], calls={}, error="wrong value")]
    text = table(outcomes)
    assert f"{2 * len(RUNS)} make" in text
    assert any(line.split()[-2:] == ["2", "1"] for line in text.splitlines())
    monkeypatch.setattr(last_run, "LAST_RUN", tmp_path / "run.json")
    last_run.record(outcomes, "abc", 1.2)
    last_run.record(outcomes[:2], "def", 1.6, "address")
    last_run.record(outcomes, "ghi", 1.2)  # keeps those of the sanitizer
    found = json.loads(last_run.LAST_RUN.read_text())
    assert (found["commit"], len(found["runs"])) == ("ghi", len(RUNS))
    address = found["sanitized"]["address"]
    assert (address["commit"], address["minutes"]) == ("def", 2)
    assert address["processes"] == 2
    assert {run.kind for run in RUNS} == set(ROUNDS)

# Every operator of PyTorch's database, against the CPU; see docs/ship/sweep.md.
import fnmatch

import pytest
import torch
from sweep import known, last_run, runner
from sweep.cases import (
    ALL_DTYPES,
    DTYPES,
    OPERATORS,
    SOME_DTYPES,
    Case,
    Verdict,
    all_cases,
    more_cases,
    samples,
)
from sweep.compare import WrongValue, compare
from sweep.exceptions import (
    ARBITRARY_STRIDES,
    ARBITRARY_VALUES,
    DRAWS,
    HOST_ARGUMENTS,
    NOT_CALLED,
    ROUNDED_ELSEWHERE,
)
from sweep.known import KNOWN, Known, problems, unused
from sweep.known_of_ways import some
from sweep.mirror import mirror, names_a_device, parts, tensors
from sweep.overloads import overloads
from sweep.table import table
from sweep.ways import WAYS, call

PARTS = {
    "float32, backward": lambda case: case[1:] == ("float32", "backward"),
    "float32": lambda case: case.dtype == "float32" and case.way != "backward",
    "float64": lambda case: case.dtype == "float64",
    "bfloat16": lambda case: case.dtype == "bfloat16",
    "complex64": lambda case: case.dtype == "complex64",
    "int64, bool": lambda case: case.dtype in ("int64", "bool"),
    "refusals": lambda case: case.way == "refusal",
}


@pytest.fixture(scope="module")
def every_verdict():
    """In one process for all parts: to import the database takes seconds."""
    return runner.run_all(all_cases(), runner.QUICK)


@pytest.mark.parametrize("part", PARTS)
def test_every_operator_is_right(part, every_verdict):
    verdicts = [verdict for verdict in every_verdict if PARTS[part](verdict.case)]
    assert not problems(verdicts), table(verdicts)
    assert sum(verdict.samples for verdict in verdicts) > 1.5 * len(verdicts)


# Of the other ways, the tests check a fixed part: `nox -s sweep` takes minutes.
EVERY = 10
MORE_PARTS = {
    "views": ("strided", "in-place view", "out view", "out shape", "out overlap"),
    "transforms": ("forward AD", "double backward", "vmap", "launched", "mistakes"),
}


@pytest.fixture(scope="module")
def some_verdicts():
    ways = {way for part in MORE_PARTS.values() for way in part}
    names = list(OPERATORS)[::EVERY]
    cases = [
        case
        for case in more_cases()
        if case.way in ways and case.dtype == "float32" and case.operator in names
    ]
    return runner.run_all(cases, {"float32": 1})


@pytest.mark.parametrize("part", MORE_PARTS)
def test_some_operators_are_right_in_the_other_ways(part, some_verdicts):
    verdicts = [verdict for verdict in some_verdicts if verdict.way in MORE_PARTS[part]]
    assert not problems(verdicts), table(verdicts)
    assert {verdict.way for verdict in verdicts} == set(MORE_PARTS[part])
    right = sum(verdict.verdict == "right" for verdict in verdicts)
    assert right > 0.9 * len(verdicts)


# Overloads that the database never calls, and that once were wrong.
ONCE_WRONG = ["isin.Scalar_Tensor", "isin.Scalar_Tensor_out", "kaiser_window.beta"]
EVERY_OVERLOAD = 25
SCHEMA_DTYPES = ["float32", "int64"]


@pytest.fixture(scope="module")
def overload_verdicts():
    chosen = []
    for dtype in SCHEMA_DTYPES:
        cases = [case for case in more_cases() if case[1:] == (dtype, "schema")]
        assert len(cases) > 2500
        chosen += [
            case
            for number, case in enumerate(cases)
            if number % EVERY_OVERLOAD == 0 or case.operator[6:] in ONCE_WRONG
        ]
    return runner.run_all(chosen, dict.fromkeys(SCHEMA_DTYPES, 2))


@pytest.mark.parametrize("dtype", SCHEMA_DTYPES)
def test_some_overloads_are_right_with_arguments_of_their_schema(
    dtype, overload_verdicts
):
    verdicts = [verdict for verdict in overload_verdicts if verdict.dtype == dtype]
    assert not problems(verdicts), table(verdicts)
    named = [v for v in verdicts if v.operator[6:] in ONCE_WRONG]
    assert len(named) == len(ONCE_WRONG)
    assert all(verdict.verdict == "right" for verdict in named)
    right = sum(verdict.verdict == "right" for verdict in verdicts)
    assert right > 0.5 * len(verdicts)


def test_the_other_cases_are_in_all_ways_and_dtypes():
    cases = [*all_cases(), *more_cases()]
    assert len(cases) == len(set(cases)) > 25000
    assert {case.way for case in cases} == set(WAYS)
    assert {case.dtype for case in cases} == {*ALL_DTYPES, "any"}
    for way, dtypes in SOME_DTYPES.items():
        assert {case.dtype for case in cases if case.way == way} == set(dtypes)
    assert not NOT_CALLED.keys() & {(case.operator, case.way) for case in cases}


def test_the_guide_shows_a_run_of_these_ways_and_dtypes():
    """The run had all ways of its dtypes, and the page names the other dtypes."""
    cases = [*all_cases(), *more_cases()]
    run, left_out = last_run.pairs(), last_run.left_out()
    assert run == {(c.dtype, c.way) for c in cases if c.dtype not in left_out}
    assert {"float32", "any"} <= {dtype for dtype, _ in run}


def test_the_cases_are_those_of_the_whole_database():
    cases = all_cases()
    assert len(OPERATORS) > 700
    assert len(cases) == len(set(cases)) > 7500
    for case in cases:
        assert sum(choose(case) for choose in PARTS.values()) == 1, case
    for dtype in DTYPES:
        assert sum(case[1:] == (dtype, "forward") for case in cases) > 300


# -- the exceptions --


def test_every_exception_names_an_operator():
    names = {*ARBITRARY_VALUES, *ARBITRARY_STRIDES, *HOST_ARGUMENTS}
    names.update(ROUNDED_ELSEWHERE, (name for name, _ in NOT_CALLED))
    all_names = {*OPERATORS, *overloads()}
    assert names <= all_names
    patterns = {one for known in KNOWN for one in known.operators}
    assert not [one for one in patterns if not fnmatch.filter(all_names, one)]


@pytest.mark.filterwarnings("ignore")  # samples may be deprecated ones
@pytest.mark.parametrize(
    "name", [name for name, why in ARBITRARY_VALUES.items() if why == DRAWS]
)
def test_what_is_said_to_draw_draws(name, monkeypatch):
    monkeypatch.setattr(torch, "manual_seed", lambda seed: None)  # samples reset it
    case = Case(name, "float32", "forward")

    def results(sample, seed):
        torch.default_generator.manual_seed(seed)
        return tensors(call(OPERATORS[name], mirror(sample, None)))

    for sample in samples(case, None):
        pairs = zip(results(sample, 1), results(sample, 2), strict=True)
        if any(not torch.equal(one, other) for one, other in pairs):
            return
    pytest.fail(f"{name} gives the same values with every seed")


def test_a_known_wrong_that_is_right_is_a_problem(monkeypatch):
    wrong = Known(("abs",), ("forward",), "wrong value", "strides", "for the test")
    monkeypatch.setattr(known, "KNOWN", [wrong])
    found = Verdict("abs", "bool", "forward", "wrong value", "strides 1")
    assert problems([found]) == []
    assert len(problems([Verdict("abs", "bool", "forward")])) == 1
    other = Verdict("abs", "bool", "forward", "wrong value", "shape 1")
    assert len(problems([other])) == 1
    assert len(problems([Verdict("abs", "bool", "out", "crash")])) == 1


def test_each_failure_of_a_case_needs_a_reason(monkeypatch):
    entry = some("forward", "wrong value", "strides", "abs", "for the test")
    monkeypatch.setattr(known, "KNOWN", [entry])
    failures = ("wrong value", "strides 1"), ("error", "ValueError: 2")
    found = Verdict("abs", "bool", "forward", *failures[0], others=[failures[1]])
    assert problems([found]) == ["abs bool forward: error, ValueError: 2"]


def test_a_known_wrong_that_no_case_shows_is_a_problem_of_a_whole_run(monkeypatch):
    entry = some("forward", "wrong value", "strides", "abs neg", "for the test")
    monkeypatch.setattr(known, "KNOWN", [entry])
    shown = Verdict("abs", "bool", "forward", "wrong value", "strides 1")
    assert problems([Verdict("abs", "bool", "forward")]) == []
    assert unused([shown], full=False) == []
    (of_neg,) = unused([shown], full=True)
    assert of_neg.startswith("neg, forward: not seen; remove from KNOWN")
    (of_both,) = unused([Verdict("abs", "bool", "forward")], full=False)
    assert of_both.startswith("abs, neg, forward")


# -- the sweep itself --


def test_faults_are_found_and_spoil_nothing_else(monkeypatch):
    expected = {
        "crash": ("crash", "exit status -6"),
        "fine": ("right", ""),
        "hang": ("hang", "Timeout"),
        "fault": ("error", "AcceleratorError"),
        "both": ("wrong value", "not close"),
        "late": ("error", "ValueError: only here"),
        "silent": ("wrong value", "no error, but on the CPU: ValueError"),
        "value": ("wrong value", "not close"),
        "shape": ("wrong value", "shape"),
        "strides": ("wrong value", "strides [1, 2] instead of [3, 1]"),
        "dtype": ("wrong value", "dtype"),
        "device": ("wrong device", "on cpu instead of openreg:0"),
        "other device": ("wrong device", "on openreg:1"),
        "input": ("wrong value", "not close"),
        "view": ("wrong value", "shares memory with inputs [[0]] instead of [[]]"),
    }
    monkeypatch.setattr(runner, "WORKER", "sweep.faulty_worker")
    cases = [Case(name, "float32", "forward") for name in expected]
    for verdict in runner.run_all(cases, {}, seconds=5):
        kind, detail = expected[verdict.operator]
        assert verdict.verdict == kind, verdict
        assert detail in verdict.detail, verdict
        others = ["error"] if verdict.operator == "both" else []
        assert [kind for kind, _ in verdict.failures[1:]] == others, verdict


def test_a_copy_of_a_sample_keeps_strides_and_shared_memory():
    base = torch.arange(12.0).view(3, 4)
    tensor = base.t()[1:]
    sample = samples(Case("add", "float32", "forward"), 1)[0]
    sample.input = [tensor, base[0].expand(5, 4), torch.ones(2) * 1j]
    sample.args, sample.kwargs = (tensor,), {"device": "cpu", "other": "cpu?"}
    copy = mirror(sample, "openreg:1")
    first, second, _, again = tensors(parts(copy))
    assert first is again
    assert (first.stride(), first.storage_offset()) == ((1, 4), 1)
    assert second.stride() == (0, 1)
    assert first.untyped_storage()._cdata == second.untyped_storage()._cdata
    assert first.device == torch.device("openreg:1")
    assert copy.kwargs == {"device": "openreg:1", "other": "cpu?"}
    assert torch.equal(first.cpu(), tensor)


def test_a_sample_that_names_no_device_belongs_to_the_cpu():
    for name, want in (("arange", {False, True}), ("add", {True}), ("empty", {True})):
        made = samples(Case(name, "float32", "forward"), None)
        assert {names_a_device(sample) for sample in made} == want, name


def test_a_wider_tolerance_is_for_bfloat16_only():
    def differ(dtype, amount, *, rounded_elsewhere):
        one = torch.ones(2, dtype=dtype)
        try:
            compare(
                (one + amount).to("openreg"),
                one,
                device="openreg:0",
                values=True,
                strides=True,
                rounded_elsewhere=rounded_elsewhere,
            )
        except WrongValue:
            return True
        return False

    assert not differ(torch.bfloat16, 0.03125, rounded_elsewhere=True)
    assert differ(torch.bfloat16, 0.03125, rounded_elsewhere=False)
    assert differ(torch.float32, 0.03125, rounded_elsewhere=True)
    assert differ(torch.bfloat16, 0.125, rounded_elsewhere=True)

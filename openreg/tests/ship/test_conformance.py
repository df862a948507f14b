# The conformance kit judges any backend; see docs/ship/conformance.md.
import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
import torch
import torch_conformance
from starter_build import HIDDEN, install_starter
from torch_conformance._case import CASES, LEVELS, PAGES, Area, Case
from torch_conformance._child import attempt
from torch_conformance._outcome import Missing, told
from torch_conformance._progress import progress
from torch_conformance._runner import results, select

ROOT = Path(__file__).resolve().parents[3]
HEADERS = Path(torch.__file__).parent / "include"
ALL = select(range(6))


# -- the cases --


def test_a_case_names_a_page_by_its_title():
    for page, title in PAGES.items():
        first = (ROOT / f"docs/{page}.md").read_text().splitlines()[0]
        assert first == f"# {title}", page
    assert {case.page for case in ALL} == set(PAGES)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_case_says_what_to_implement(case):
    assert case.expects.endswith(".") and case.implement
    assert 0 <= case.level < len(LEVELS) and case.stage in (None, *range(10))
    for header in re.findall(r"\b(?:c10|ATen|torch)/[\w/]+\.h\b", case.implement):
        assert (HEADERS / header).is_file(), header
    for class_, name in re.findall(r"\b(\w+)::(\w+)\b(?!::)", case.implement):
        if class_ in ("DeviceGuardImplInterface", "PrivateUse1HooksInterface"):
            place = case.implement.rpartition(", ")[2]
            assert re.search(rf"\b{name}\b", (HEADERS / place).read_text()), name


def test_levels_follow_the_ladder():
    for case in ALL:
        if case.stage is not None:
            assert case.level == min(case.stage, 5), case.name


# -- the runner --


def sleeps(_):
    time.sleep(60)


def planted(name, body, seconds=60.0):
    return Case(name, 0, 0, "", "", "", (), body, loads=False, seconds=seconds)


def raises(error):
    def body(_):
        raise error

    return body


def test_each_outcome_costs_one_case_only(monkeypatch):
    # Planted cases start no work on a device, so there is nothing to wait for.
    monkeypatch.setattr(torch_conformance._device.Device, "settle", lambda self: None)
    cases = [
        planted("a.missing", raises(Missing("no such feature"))),
        planted("a.missing_operator", raises(NotImplementedError("no kernel"))),
        planted("a.wrong", raises(ValueError("another value"))),
        planted("a.exits", raises(SystemExit(0))),
        planted("a.crashed", lambda _: os.kill(os.getpid(), signal.SIGKILL)),
        planted("a.real_time", lambda _: os.kill(os.getpid(), 40)),
        planted("a.ended", lambda _: os._exit(0)),
        planted("a.hung", sleeps, seconds=0.5),
        planted("a.passed", lambda _: None),
    ]
    found = {
        result.case: (result.outcome, result.detail)
        for result in results(cases, "cpu", module=None, jobs=2, prepare=lambda: None)
    }
    assert found.pop("a.crashed")[0] == "crashed"
    assert found == {
        "a.missing": ("missing", "no such feature"),
        "a.missing_operator": ("missing", "NotImplementedError: no kernel"),
        "a.wrong": ("wrong", "ValueError: another value"),
        "a.exits": ("wrong", "SystemExit: 0"),
        "a.real_time": ("crashed", "signal 40"),
        "a.ended": ("crashed", "exit status 0"),
        "a.hung": ("hung", "no progress for 0.5 s"),
        "a.passed": ("passed", ""),
    }


def test_a_feature_that_is_missing_is_never_skipped():
    case = planted("a.b", lambda _: None)
    object.__setattr__(case, "needs", ("two devices",))
    result = attempt(case, "cpu", None, lambda: None)
    assert (result.outcome, result.detail) == ("missing", "no two devices")


def test_a_slow_case_that_makes_progress_does_not_hang():
    def slow(_):
        for _ in range(12):
            time.sleep(0.25)
            progress()

    cases = [planted("a.slow", slow, seconds=1.5)]
    (found,) = results(cases, "cpu", module=None, jobs=1, prepare=lambda: None)
    assert found.outcome == "passed" and found.seconds > 2 * 1.5 - 0.5


def test_a_case_is_over_although_a_child_of_it_goes_on():
    def leaves_a_child(_):
        if os.fork() == 0:
            sleeps(_)

    cases = [planted("a.passed", leaves_a_child, seconds=20)]
    (found,) = results(cases, "cpu", module=None, jobs=1, prepare=lambda: None)
    assert found.outcome == "passed" and found.seconds < 20


def test_a_crash_names_the_last_step_of_the_case():
    def crashes(device):
        device.step("add")
        device.step("mul")
        progress()
        os.write(1, b"a warning\n")
        os.kill(os.getpid(), signal.SIGKILL)

    cases = [planted("a.crashed", crashes)]
    (found,) = results(cases, "cpu", module=None, jobs=1, prepare=lambda: None)
    assert (found.outcome, found.detail) == ("crashed", "SIGKILL\nat mul\na warning")


def test_an_error_is_cut_to_a_few_lines_that_can_be_read():
    lines = told(ValueError("x" * 1000 + "\n\n" + "y\n" * 9)).splitlines()
    assert lines == ["ValueError: " + "x" * 240 + " ...", *["y"] * 5]


def test_two_cases_have_different_names():
    area = Area("device", level=1, stage=1, page="runtime/guard", implement="-")
    with pytest.raises(AssertionError, match=r"device\.count"):
        area.add("count", "Again.", lambda d: None)


# -- backends --

JUDGE = """
import json, os, sys
sys.path[:0] = {paths!r}
import torch_conformance
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "1"
found = torch_conformance.run({device!r}, {levels!r}, **{options!r})
print(json.dumps([[r.case, r.outcome, r.detail] for r in found]))
"""


@pytest.fixture
def judge(run_forked):
    """Run the kit on a device where no backend is loaded; return what does not pass."""

    def run_kit(device, levels, *paths, **options):
        program = JUDGE.format(
            paths=[str(path) for path in paths],
            device=device,
            levels=list(levels),
            options={"jobs": 2, "warm": True, **options},
        )
        process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        assert process.returncode == 0, process.stderr
        found = json.loads(process.stdout.splitlines()[-1])
        return {
            name: f"{outcome}: {detail}"
            for name, outcome, detail in found
            if outcome != "passed"
        }

    return run_kit


def test_openreg_passes_every_case(judge):
    assert judge("openreg", range(5)) == {}


def test_openreg_passes_the_last_level(judge):
    # Inductor and all of the database take minutes; others test them.
    areas = {case.area for case in ALL if case.level == 5} - {"database", "compiler"}
    assert judge("openreg", [5], words=[*areas, "bool_1"]) == {}


def test_it_loads_by_itself(judge):
    assert judge("openreg", [0], warm=False) == {}
    failed = judge("nothing", [0], warm=False, module="json")
    assert "registration.autoload" in failed


def test_ranks_load_the_backend_themselves(judge):
    assert judge("openreg", [5], words=["distributed"], warm=False) == {}
    folder = ROOT / "openreg/tests/python_only"
    options = {"module": "numpy_backend", "words": ["distributed"], "warm": False}
    found = judge("npy", [5], folder, **options)
    assert set(found.values()) == {
        "missing: no process groups: ValueError: "
        "Default backend not registered for device : npy"
    }


RANKS_THAT_FAIL = """
import sys
sys.path.insert(0, {folder!r})
from torch_conformance._device import Device
from torch_conformance.cases.distributed import _ranks

def fail(device, rank):
    raise ValueError("no network")

try:
    _ranks(Device("cpu"), fail)
except AssertionError as error:
    print(error)
"""


def test_a_rank_says_what_failed(run_forked):
    folder = ROOT / "openreg/conformance"
    program = RANKS_THAT_FAIL.format(folder=str(folder))
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    said = process.stdout.splitlines()[-1]  # the other rank may see a closed connection
    assert said.startswith("the ranks end with [1, 1]: ")
    assert "ValueError: no network" in said


def test_the_starter_reaches_the_stage_that_it_claims(judge):
    found = judge(
        "starter", range(5), HIDDEN, install_starter(), module="torch_starter"
    )
    assert {CASES[name].level for name in found} == {4}
    assert {"streams.create", "allocator.statistics", "host memory.pinned"} <= set(
        found
    )


def test_a_backend_without_c_plus_plus_lacks_a_guard_of_its_own(judge):
    folder = ROOT / "openreg/tests/python_only"
    words = ["registration", "device", "deepcopies", "memory.strides"]
    found = judge("npy", range(3), folder, module="numpy_backend", words=words)
    assert found["device.set_device"] == "missing: no two devices"
    assert found["memory.strides"].startswith("wrong: strides (3, 1)")
    assert found["copies.deepcopies"].startswith("crashed: SIGSEGV")
    assert "registration.name" not in found


def test_the_cpu_is_no_accelerator(judge):
    found = judge("cpu", range(3))
    assert not [name for name in found if CASES[name].level == 0]
    level_2 = {name: text for name, text in found.items() if CASES[name].level == 2}
    assert set(level_2.values()) == {"missing: no two devices"}
    assert len([name for name in found if CASES[name].level == 1]) == 8

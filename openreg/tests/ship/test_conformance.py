# The conformance kit judges any backend; see docs/ship/conformance.md.
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch_conformance
from conformance.record import record, summary
from starter_build import HIDDEN, install_starter
from torch_conformance import _html
from torch_conformance._case import CASES, LEVELS, PAGES, Area, Case
from torch_conformance._child import attempt
from torch_conformance._outcome import Missing, Result, told
from torch_conformance._progress import progress
from torch_conformance._report import Report, compare, read, show
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


# -- the report --


def report(outcomes):
    found = [Result(case.name, outcomes.get(case.name, "passed")) for case in ALL]
    return Report("acme", "2.13.0", found)


def test_the_score_is_the_mean_of_the_areas():
    whole = report({})
    assert whole.readiness == 1 and whole.complete
    assert whole.reached == max(whole.levels)
    area = [case.name for case in ALL if case.area == "serialization"]
    part = report({area[0]: "missing", area[1]: "crashed"})
    assert part.score(2) == pytest.approx((2 + (len(area) - 2) / len(area)) / 3)
    assert part.reached == 1 and not part.complete
    count = len(part.levels)
    assert part.readiness == pytest.approx((count - 1 + part.score(2)) / count)
    assert "level reached: 1" in show(part)


def test_a_level_without_the_levels_before_it_is_not_reached():
    only = Report(
        "acme", "2.13.0", [r for r in report({}).results if "events" in r.case]
    )
    assert only.reached is None


def test_text_json_and_html_say_what_to_do(tmp_path):
    part = report({"device.threads": "wrong"})
    case = CASES["device.threads"]
    told = json.loads(json.dumps(part.as_json()))
    (entry,) = [r for r in told["results"] if r["outcome"] != "passed"]
    page = _html.page(part)
    for text in (case.expects, case.implement, "The device guard"):
        assert text in show(part) and text in page
        assert any(text in str(value) for value in entry.values())
    assert entry["page"] == "The device guard"
    assert ".md" not in show(part) + page  # a wheel has no docs folder
    assert "<svg" in page and "http" not in page and "<script" not in page
    assert not re.search(r"(src|href|url)\s*[=(]", page)


def test_a_run_is_compared_with_an_earlier_one(tmp_path):
    before = report({"device.threads": "wrong", "device.count": "hung"}).as_json()
    before["results"] = [r for r in before["results"] if r["case"] != "events.query"]
    (tmp_path / "last.json").write_text(json.dumps(before))
    after = report({"device.count": "wrong", "device.context": "missing"})
    lines = compare(after, read(tmp_path / "last.json")).splitlines()
    assert lines[:-1] == [
        "changed: device.count, hung before, now wrong",
        "worse: device.context, passed before, now missing",
        "better: device.threads, wrong before, now passed",
        "new: events.query, passed",
    ]
    assert lines[-1].startswith("readiness: ")


def test_a_capability_is_reported_and_lowers_no_score(tmp_path):
    whole = report({})
    first, second, third = whole.results[:3]
    first.measured = {"kernels of two streams overlap": False}
    second.measured = {"launches are asynchronous": False}
    third.measured = {"launches are asynchronous": True}  # one proof is enough
    assert whole.complete and whole.readiness == 1
    lines = ["kernels of two streams overlap: no", "launches are asynchronous: yes"]
    for line in lines:
        assert f"\n{line}\n" in show(whole) and f"<br>{line}<" in _html.page(whole)
    (tmp_path / "last.json").write_text(json.dumps(whole.as_json()))
    first.measured = {"kernels of two streams overlap": True}
    assert compare(whole, read(tmp_path / "last.json")).splitlines() == [
        "kernels of two streams overlap: no before, now yes",
        "readiness: 100.0 % before, now 100.0 %",
    ]


def test_a_recorded_run_keeps_counts_and_the_other_backends(tmp_path):
    file = tmp_path / "recorded.json"
    outcomes = {"device.context": "wrong", "streams.create": "missing"}
    row = summary(report(outcomes).as_json(), "abc")
    record("acme", row, file)
    record("other", row, file)
    kept = json.loads(file.read_text())
    assert list(kept) == ["acme", "other"] and kept["acme"]["reached"] == 0
    levels = kept["acme"]["levels"]
    assert {name: level["failed"] for name, level in levels.items()} == {
        **{key: {} for key in "0235"},
        "1": {"device.context": "wrong"},
        "4": {"streams.create": "missing"},
    }
    cases = sum(level["passed"] for level in levels.values()) + len(outcomes)
    assert cases == len(ALL)


def test_the_command_refuses_wrong_arguments(capsys):
    for arguments, text in (
        ([], "--device is required"),
        (["--device", "cpu", "--level", "3..1"], "from 0 to 5"),
        (["--device", "cpu", "--jobs", "0"], "expected a number from 1 on, got 0"),
        (["--device", "cpu", "--jobs", "-1"], "expected a number from 1 on, got -1"),
        (["--device", "cpu", "--jobs", "two"], "expected a number from 1 on, got two"),
        (["--device", "cpu", "--timeout", "0"], "expected a number of seconds, got 0"),
        (["--device", "cpu", "--timeout", "-2"], "expected a number of seconds, got -"),
        (["--device", "cpu", "--against", "no.json"], "cannot read no.json: No such"),
    ):
        with pytest.raises(SystemExit) as stopped:
            torch_conformance.main(arguments)
        assert stopped.value.code == 2
        assert text in capsys.readouterr().err
    assert torch_conformance.main(["--list", "--level", "1"]) == 0
    assert capsys.readouterr().out.startswith("1 device.count: ")


def ran(*arguments):
    """Run the command with a short case; return how it ends and what it prints."""
    command = [sys.executable, "-m", "torch_conformance", "--device", "cpu"]
    process = subprocess.run(
        [*command, "--level", "0", "-k", "registration.name", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "Traceback" not in process.stderr
    return process


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "JSONDecodeError"),
        ("{}", "KeyError: 'results'"),
        ("[]", "TypeError"),
        ('{"results": [], "readiness": null}', "TypeError"),
        ('{"results": [], "readiness": 1, "capabilities": 2}', "TypeError"),
        ('{"results": [{"case": "a"}], "readiness": 1}', "KeyError: 'outcome'"),
        ('{"results": [{"case": [], "outcome": 1}], "readiness": 1}', "TypeError"),
        ("\udcff", "UnicodeDecodeError"),
    ],
)
def test_a_file_that_is_no_report_is_refused_before_the_run(text, reason, tmp_path):
    file = tmp_path / "last.json"
    file.write_text(text, errors="surrogateescape")
    process = ran("--against", file)
    assert process.returncode == 2 and process.stdout == ""
    assert f"{file} is no report: {reason}" in process.stderr
    assert process.stderr.endswith("Name a file that --json wrote.\n")


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize("name", [".", "missing/report", "file/report"])
def test_an_output_that_cannot_be_written_is_refused_before_the_run(
    option, name, tmp_path
):
    (tmp_path / "file").touch()
    process = ran(option, tmp_path / name)
    assert process.returncode == 2 and process.stdout == ""
    assert f"cannot write {tmp_path / name}" in process.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_output_that_fails_in_the_end_costs_no_other_one(tmp_path):
    page = tmp_path / "now.html"
    process = ran("--json", "/dev/full", "--html", page)
    assert process.returncode == 2
    assert "cannot write /dev/full: No space left on device" in process.stderr
    assert "readiness of cpu" in process.stdout and "</html>" in page.read_text()


def test_a_report_may_replace_the_one_that_it_is_compared_with(tmp_path):
    file = tmp_path / "last.json"
    before = report({}).as_json()
    file.write_text(json.dumps(before))
    process = ran("--json", file, "--against", file)
    assert "readiness: 100.0 % before" in process.stdout
    assert len(json.loads(file.read_text())["results"]) == 1


@pytest.mark.parametrize("options", [[], ["--warm"]])
def test_a_module_that_is_not_there_is_refused(options):
    process = ran("--import", "no_such_module", *options)
    assert process.returncode == 2 and process.stdout == ""
    assert "there is no module 'no_such_module'. Install it" in process.stderr


def test_a_module_that_does_not_load_ends_a_warm_run():
    process = ran("--import", "json.no_such_part", "--warm")
    assert process.returncode == 2
    said = "the backend does not load: ModuleNotFoundError: No module named"
    assert said in process.stderr and "Without --warm, each case" in process.stderr


def test_a_run_without_jobs_is_refused():
    with pytest.raises(ValueError, match="expected jobs from 1 on, got 0"):
        torch_conformance.run("cpu", jobs=0)


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

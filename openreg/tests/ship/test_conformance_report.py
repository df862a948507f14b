# The reports of the conformance kit, and its command; see docs/ship/conformance.md.
import json
import os
import re
import subprocess
import sys

import pytest
import torch_conformance
from conformance.record import record, summary
from torch_conformance import _html
from torch_conformance._case import CASES
from torch_conformance._outcome import Result
from torch_conformance._report import Report, compare, read, show
from torch_conformance._runner import select

ALL = select(range(6))


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
        (["--device", "cpu", "--jobs", "0"], "expected a number of 1 or more, got 0"),
        (["--device", "cpu", "--jobs", "-1"], "expected a number of 1 or more, got -1"),
        (
            ["--device", "cpu", "--jobs", "two"],
            "expected a number of 1 or more, got two",
        ),
        (
            ["--device", "cpu", "--timeout", "0"],
            "expected a number of seconds above 0, got 0",
        ),
        (
            ["--device", "cpu", "--timeout", "-2"],
            "expected a number of seconds above 0, got -",
        ),
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
    with pytest.raises(ValueError, match="expected 1 or more jobs, got 0"):
        torch_conformance.run("cpu", jobs=0)

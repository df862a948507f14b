# What is found on each release of torch and recorded; see docs/ship/upgrading.md.
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import try_release
from releases import last_run, parts
from torch_release import CLOSED_IN, NEVER, TORCH

PROBES = Path(__file__).parents[1] / "examples" / "probe_gaps.py"
PAGES = Path(__file__).parents[3] / "docs" / "ship"
SECTIONS = {  # the page and the heading that describe a gap
    "no stream differs from none": ("known-gaps-streams", "No stream differs"),
    "dlpack compares a name that no device has": ("known-gaps-names", "DLPack looks"),
    "flex attention has a closed list": ("known-gaps-names", "FlexAttention has"),
    "there is no pool of memory": ("known-gaps", "There is no pool of memory"),
    "an empty host cache ends the process": ("known-crashes", "Emptying a host cache"),
}


def test_each_gap_is_closed_where_the_table_says_so():
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, PROBES]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["torch"] == torch.__version__
    assert found["gaps"] == {gap: closed > TORCH for gap, closed in CLOSED_IN.items()}


def test_the_recorded_gaps_are_those_of_the_table():
    recorded = last_run.read()
    assert recorded
    for release, row in recorded.items():
        minor = tuple(map(int, release.split(".")[:2]))
        found = {gap: row["gaps"][gap] for gap in CLOSED_IN}
        assert found == {gap: int(it > minor) for gap, it in CLOSED_IN.items()}


@pytest.mark.parametrize("gap", SECTIONS)
def test_the_page_of_a_gap_names_the_release_that_closes_it(gap):
    page, heading = SECTIONS[gap]
    text = (PAGES / f"{page}.md").read_text()
    section = text.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    release = f"{CLOSED_IN[gap][0]}.{CLOSED_IN[gap][1]}"
    newest = max(last_run.read())
    is_never = CLOSED_IN[gap] == NEVER
    words = (
        f"still open in torch {newest}" if is_never else f"closed in torch {release}"
    )
    assert f"* **Releases:** {words}." in section


def test_a_part_replaces_only_its_own_counts(tmp_path):
    file = tmp_path / "last_run.json"
    for release, part, passed in (
        ("2.15.0+cu132", "tests", 1),
        ("2.14.1", "tests", 2),
        ("2.15.0+cu132", "examples", 3),
        ("2.15.0+cu132", "tests", 4),
    ):
        counts = {"passed": passed, "failed": 1}
        last_run.record(release, part, counts, "abc", file)
    found = last_run.read(file)
    assert list(found) == ["2.14.1", "2.15.0"]
    assert found["2.15.0"]["tests"]["passed"] == 4
    assert found["2.15.0"]["tests"]["torch"] == "2.15.0+cu132"
    assert found["2.15.0"]["examples"]["commit"] == "abc"
    rows = [line.split() for line in last_run.table(found).splitlines()]
    assert rows[2][:1] == ["2.15.0"] and rows[2][-3:] == ["3", "of", "4"]
    assert "not run" in last_run.table(found)


REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure/></testcase>
<testcase name="c"><error/><failure/></testcase><testcase name="d"><skipped/></testcase>
</testsuite></testsuites>"""


def test_reports_are_counted(tmp_path):
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)
    assert parts.count_tests(report) == {"passed": 1, "failed": 2, "skipped": 1}
    verdicts = [
        {"verdict": "right", "way": "forward"},
        {"verdict": "same error", "way": "backward"},
        {"verdict": "wrong value", "way": "backward"},
    ]
    found = parts.count_verdicts(verdicts)
    assert found == {"passed": 2, "failed": 1, "forward": 1, "backward": 1}


@pytest.mark.parametrize(("failed", "status"), [(0, 0), (2, 1)])
def test_the_status_tells_of_failures(monkeypatch, tmp_path, capsys, failed, status):
    file = tmp_path / "last_run.json"
    monkeypatch.setitem(
        parts.PARTS, "tests", lambda chosen: {"passed": 5, "failed": failed}
    )
    monkeypatch.setattr(
        try_release, "record", lambda *it: last_run.record(*it, file=file)
    )
    monkeypatch.setattr(try_release, "read", lambda: last_run.read(file))
    assert try_release.main(["--part", "tests"]) == status
    assert f"5 of {5 + failed}" in capsys.readouterr().out
    assert try_release.main(["--table"]) == 0

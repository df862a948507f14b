# What is found on each release of torch and recorded; see docs/ship/upgrading.md.
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import try_release
from patience import PATIENCE
from releases import last_run, parts
from torch_release import CHANGED_IN, CLOSED_IN, TORCH

PROBES = Path(__file__).parents[1] / "examples" / "probe_gaps.py"
PAGES = Path(__file__).parents[3] / "docs" / "ship"
# The sections about gaps that a release closes. All others are open in the newest one.
CLOSED = {
    "No stream differs from None": "no stream differs from none",
    "Emptying a host cache that does not exist ends the process": (
        "an empty host cache ends the process"
    ),
    "A process group without a name counts as Gloo's": (
        "a process group without a name uses what is there"
    ),
    "Triton kernels need a device of a closed list": (
        "has_triton asks the device interfaces"
    ),
    "Inductor has a list of GPUs": "GPU_TYPES asks the device interfaces",
    "A quote in the name of a range breaks the trace": (
        "a trace replaces quotes in names"
    ),
    "The flight recorder has a list of libraries": "torch records every group",
    "Only NCCL checks for NaN": "every group checks for NaN",
}
OTHER_SECTIONS = {"Recap", "What a signal means"}


def sections() -> list[tuple[str, str, str]]:
    """The page, heading and text of each section about a gap."""
    found = []
    for page in sorted(PAGES.glob("known-*.md")):
        for section in page.read_text().split("\n## ")[1:]:
            heading, _, text = section.partition("\n")
            if heading not in OTHER_SECTIONS:
                found.append((page.stem, heading, text))
    return found


def test_each_gap_is_closed_where_the_table_says_so():
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, PROBES]
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=PATIENCE
    )
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


def test_each_section_about_a_gap_says_which_release_closes_it():
    headings = [heading for _, heading, _ in sections()]
    assert len(headings) > 40 and CLOSED.keys() <= set(headings)
    newest = max(last_run.read())
    since = CLOSED_IN | CHANGED_IN
    for page, heading, text in sections():
        words = f"still open in torch {newest}"
        if heading in CLOSED:
            words = "closed in torch {}.{}".format(*since[CLOSED[heading]])
        told = re.findall(r"^\* \*\*Releases:\*\* (.*?)[.,](?:$| )", text, re.MULTILINE)
        assert told == [words], (page, heading)


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

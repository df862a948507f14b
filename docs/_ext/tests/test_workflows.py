# The workflows of docs/ship/check-wheels.md, relay.md: their form; their steps, run.
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packed import wheel_for

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "openreg/tests/examples/packaging"
NAMES = ("wheels", "relay")
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
LOOKUP = re.compile(r"\b(matrix|needs|steps|github|vars)((?:\.[\w-]+)+)")
SHELL_NAME = re.compile(r"\$\{?([A-Z_]+)")
Outputs = dict[str, str]


def workflow(name: str) -> dict[str, Any]:
    found = yaml.safe_load((EXAMPLES / f"{name}.yml").read_text())
    found["on"] = found.pop(True)  # YAML 1.1 reads the key `on` as a boolean
    assert isinstance(found, dict)
    return found


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [(w, key, it) for w in NAMES for key, it in workflow(w)["jobs"].items()]


def steps_of(job: dict[str, Any]) -> list[dict[str, Any]]:
    return list(job["steps"])


def needed(job: dict[str, Any]) -> list[str]:
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else needs


JOBS = pytest.mark.parametrize(
    ("name", "key", "job"), jobs(), ids=[f"{name}-{key}" for name, key, _ in jobs()]
)


@JOBS
def test_each_expression_names_what_exists(
    name: str, key: str, job: dict[str, Any]
) -> None:
    others = workflow(name)["jobs"]
    assert set(needed(job)) <= others.keys()
    texts = [text for text in strings(job) if "${{" in text]
    expressions = [it for text in texts for it in EXPRESSION.findall(text)]
    expressions += [job["if"]] if "if" in job else []
    for context, path in LOOKUP.findall("\n".join(expressions)):
        words = path.split(".")[1:]
        if context == "matrix":
            assert words[0] in job["strategy"]["matrix"]
        elif context == "needs":
            assert words[0] in needed(job), f"{key} does not wait for {words[0]}"
            assert words[1:] == ["result"] or words[2] in others[words[0]]["outputs"]
        elif context == "steps":
            assert words[0] in {step.get("id") for step in steps_of(job)}
            assert words[1] == "outputs"


@JOBS
def test_a_command_gets_its_values_from_variables_that_exist(
    name: str, key: str, job: dict[str, Any]
) -> None:
    given = {*os.environ, *job.get("env", {}), *workflow(name).get("env", {})}
    given |= {"GITHUB_EVENT_PATH", "GITHUB_OUTPUT"}
    for step in steps_of(job):
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[\w./]+", step["uses"])
            continue
        command = step["run"]
        assert "${{" not in command, "a value could contain commands"
        subprocess.run(["bash", "-n", "-c", command], check=True)
        assigned = set(re.findall(r"^(\w+)=", command, re.MULTILINE))
        assert set(SHELL_NAME.findall(command)) <= given | assigned


@JOBS
def test_no_job_may_both_run_code_of_others_and_sign(
    name: str, key: str, job: dict[str, Any]
) -> None:
    """A token that `id-token: write` gives is there for each command of the job."""
    if "write" not in job.get("permissions", {}).values():
        return
    for step in steps_of(job):
        assert step.get("with", {}).get("repository") is None
        assert "pip" not in step.get("run", "") and "pytest" not in step.get("run", "")


def test_the_wheels_are_for_the_releases_and_pythons_of_this_tree() -> None:
    text = (ROOT / "tests/nox_support/releases.py").read_text()
    match = re.search(r"^RELEASES = \((.*)\)$", text, re.MULTILINE)
    assert match
    releases = re.findall(r"[\d.]+", match[1])
    text = (ROOT / "tests/nox_support/machine.py").read_text()
    first, last = re.findall(r"^(?:OLDEST|NEWEST)_PYTHON = \(3, (\d+)\)", text, re.M)
    pythons = [f"3.{minor}" for minor in range(int(first), int(last) + 1)]
    for matrix in matrices():
        assert matrix.get("torch", releases) == releases
        assert matrix.get("python", pythons) == pythons


def matrices() -> list[dict[str, list[str]]]:
    jobs = workflow("wheels")["jobs"].values()
    return [job["strategy"]["matrix"] for job in jobs if "strategy" in job]


def test_each_job_runs_on_both_processors() -> None:
    assert len(matrices()) == 3
    for matrix in matrices():
        first, arm = matrix["os"]
        assert arm == f"{first}-arm"
    for job in workflow("wheels")["jobs"].values():
        if "strategy" in job:
            assert job["runs-on"] == "${{ matrix.os }}"


@JOBS
def test_no_two_machines_upload_one_name(
    name: str, key: str, job: dict[str, Any]
) -> None:
    """A second upload of a name fails, and a download would take a wrong wheel."""
    for step in steps_of(job):
        if step.get("uses", "").startswith("actions/upload-artifact"):
            named = {words for _, words in LOOKUP.findall(step["with"]["name"])}
            assert {f".{axis}" for axis in job["strategy"]["matrix"]} <= named


def test_the_wheel_is_built_and_checked_as_nox_does_it() -> None:
    files = ("noxfile.py", "tests/nox_support/wheels.py")
    noxfile = "".join((ROOT / name).read_text() for name in files)
    commands = {step.get("name"): step.get("run", "") for step in all_steps("wheels")}
    for flag in re.findall(r"--no-[\w-]+", commands["Build"]):
        assert f'"{flag}"' in noxfile
    patterns = re.findall(r"--own '(.*?)'", commands["Check"])
    assert patterns and all(f'"{pattern}"' in noxfile for pattern in patterns)


def all_steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in steps_of(job)]


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for it in value.values() for text in strings(it)]
    if isinstance(value, list):
        return [text for it in value for text in strings(it)]
    return [value] if isinstance(value, str) else []


# --- Running them ---------------------------------------------------------------------

# Programs of the repository run; what installs, builds or tests is written down.
PROGRAM = """#!/bin/bash
echo {name} "$@" >> {calls}
[ {name} = python ] && [[ $1 == openreg/*.py ]] && exec {python} "$@"
exit 0
"""


class Runner:
    """Runs the commands of jobs in a folder that looks like the repository."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, folder / "calls.txt"
        self.output = folder / "output.txt"
        programs = folder / "programs"
        programs.mkdir()
        for name in ("pip", "auditwheel", "python"):
            fake = programs / name
            fake.write_text(
                PROGRAM.format(calls=self.calls, name=name, python=sys.executable)
            )
            fake.chmod(0o755)
        for name in ("openreg", "requirements"):
            (folder / name).symlink_to(ROOT / name)
        self.env = os.environ | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(self.output),
        }

    def run(self, job: dict[str, Any], **env: str) -> dict[str, str]:
        """Run the commands of a job, and return what they wrote for later jobs."""
        self.output.write_text("")
        for step in steps_of(job):
            if "run" in step:
                command = ["bash", "-eo", "pipefail", "-c", step["run"]]
                values = self.env | env
                subprocess.run(command, cwd=self.folder, env=values, check=True)
        lines = self.output.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_the_commands_of_the_wheels_run(runner: Runner) -> None:
    jobs = workflow("wheels")["jobs"]
    releases = jobs["build"]["strategy"]["matrix"]["torch"]
    for release in releases:
        runner.run(jobs["build"], TORCH=release)
        wheel_for(runner.folder / f"dist-{release}", release)  # pip is a recording
    runner.run(jobs["merge"])
    (merged,) = (runner.folder / "merged").glob("*.whl")
    names = zipfile.ZipFile(merged).namelist()
    for release in releases:
        minor = release.rpartition(".")[0]
        assert f"torch_openreg/glue/{minor}/lib/libtorch_openreg.so" in names
    (runner.folder / merged.name).write_bytes(merged.read_bytes())
    runner.run(jobs["try"], TORCH="2.15.0")
    calls = runner.calls.read_text()
    assert "pip wheel --no-build-isolation --no-deps -w dist-2.14.1 ." in calls
    assert f"pip install torch==2.15.0 numpy ./{merged.name}" in calls
    tools = (runner.folder / "tools.txt").read_text()
    assert "pytest==" in tools and "torch" not in tools


def event(kind: str, **changes: Any) -> dict[str, Any]:
    found = json.loads((EXAMPLES / f"{kind}.json").read_text())
    payload = found["client_payload"]["payload"]
    for path, value in changes.items():
        *folders, last = path.split("__")
        inside = payload
        for folder in folders:
            inside = inside[folder]
        inside[last] = value
    assert isinstance(found, dict)
    return found


def planned(runner: Runner, sent: dict[str, Any]) -> dict[str, str]:
    file = runner.folder / "event.json"
    file.write_text(json.dumps(sent))
    job = workflow("relay")["jobs"]["plan"]
    return runner.run(job, GITHUB_EVENT_PATH=str(file))


def runs(job: dict[str, Any], outputs: dict[str, str]) -> bool:
    """Whether the condition of a job holds; it compares one output of `plan`."""
    match = re.fullmatch(r"needs\.plan\.outputs\.(\w+) == '(\w+)'", job["if"])
    assert match
    return outputs.get(match[1]) == match[2]


@pytest.mark.parametrize(
    ("sent", "wheel"),
    [
        (event("pull_request"), "--pre torch"),
        (event("pull_request", action="opened"), "--pre torch"),
        (
            event("pull_request", pull_request__base__ref="release/2.15"),
            "torch==2.15.*",
        ),
        (event("push"), "torch==2.15.*"),
        (event("push", ref="refs/heads/main"), "--pre torch"),
        (event("pull_request", action="closed"), None),
        (event("pull_request", pull_request__draft=True), None),
        (event("push", deleted=True), None),
        (event("push", ref="refs/tags/ciflow/trunk/195815"), None),
    ],
)
def test_an_event_is_tested_against_the_torch_of_its_branch(
    runner: Runner, sent: dict[str, Any], wheel: str | None
) -> None:
    outputs = planned(runner, sent)
    jobs = workflow("relay")["jobs"]
    for name in ("started", "baseline", "change"):
        assert runs(jobs[name], outputs) == (wheel is not None)
    if wheel is not None:
        payload = sent["client_payload"]["payload"]
        pull = payload.get("pull_request")
        assert outputs["commit"] == (pull["head"]["sha"] if pull else payload["after"])
        runner.run(jobs["baseline"], WHEEL=outputs["wheel"])
        runner.run(jobs["change"])
        calls = runner.calls.read_text().splitlines()
        assert f"pip install {wheel} -r tools.txt" in calls
        assert calls.count("python -m pytest -m smoke openreg/tests") == 2


@pytest.mark.parametrize(
    "sent",
    [
        event("pull_request", repository__full_name="someone/pytorch"),
        event("pull_request", pull_request__head__sha="main; rm -r ."),
        event("push", after="8f0c2d8a\ntest=true"),
        {"client_payload": event("push")["client_payload"] | {"event_type": "release"}},
        {"client_payload": {"event_type": "pull_request"}},
    ],
)
def test_an_event_of_another_form_fails(runner: Runner, sent: dict[str, Any]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        planned(runner, sent)
    assert runner.output.read_text() == ""


@pytest.mark.parametrize(
    ("baseline", "change", "category"),
    [
        ("success", "failure", "upstream"),
        ("failure", "failure", "backend"),
        ("skipped", "failure", "unknown"),
        ("success", "success", None),
        ("failure", "success", None),
        ("success", "skipped", None),
    ],
)
def test_a_failure_without_the_commit_is_ours(
    runner: Runner, baseline: str, change: str, category: str | None
) -> None:
    job = workflow("relay")["jobs"]["report"]
    outputs = runner.run(job, BASELINE=baseline, CHANGE=change)
    found = json.loads(outputs["verdict"]) if outputs else {}
    assert found.get("category") == category

# What README.md promises: its commands, its example, its tables and its links.
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
CI = (ROOT / ".ci" / "run").read_text()


def block(language, number=0):
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return found[number]


def section(title):
    found = README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    assert found, f"README.md has no section {title!r}"
    return found


def first_column(title):
    return re.findall(r"^\| `([^`]+)` \|", section(title), re.MULTILINE)


def sessions_in_ci():
    (names,) = re.findall(r"^for session in (.+); do$", CI, re.MULTILINE)
    return names.split()


def test_the_two_commands():
    assert block("console").splitlines() == [
        "python3 -m pip install nox && python3 -m nox -s docs",
        "python3 -m nox -s tests",
    ]


def test_ci_runs_the_commands_of_the_readme():
    steps = [
        step for line in block("console").splitlines() for step in line.split(" && ")
    ]
    for step in steps:
        head, _, session = step.partition(" -s ")
        if session:
            assert f'{head} -s "$session"' in CI
            assert session in sessions_in_ci()
        else:
            assert head.replace("install", "install --quiet") in CI


def test_ci_tests_the_other_torch_too_and_treats_warnings_as_errors():
    assert "\ncheck tests-on -- cuda smoke\n" in CI
    assert "failed+=" in CI
    assert "$(cat build/tests-on.txt)" in CI  # where no second Python was there
    assert 'export CMAKE_ARGS="-DOPENREG_WERROR=ON ' in CI


def test_usage_example_prints_what_is_shown():
    command = [sys.executable, "-c", block("python")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == (block("text"), "")


def test_every_session_is_listed():
    command = [sys.executable, "-m", "nox", "--no-color", "-l"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    listed = re.findall(r"^[*-] ([\w-]+) -> ", result.stdout, re.MULTILINE)
    assert sorted(first_column("Commands")) == sorted(listed)
    assert set(sessions_in_ci()) <= set(listed)


def test_versions_are_those_of_the_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, build = settings["project"], settings["build-system"]
    table = section("Supported versions")
    ((oldest, newest),) = re.findall(r"\| torch \| 2\.(\d+) to 2\.(\d+);", table)
    below = int(newest) + 1
    assert "dependencies" in project["dynamic"]  # the release that the build finds
    assert f"torch>=2.{oldest},<2.{below}" in build["requires"]
    cmake = (ROOT / "cmake/FindInstalledTorch.cmake").read_text()
    assert f"set(OPENREG_TORCH_FROM 2.{oldest} CACHE" in cmake
    assert f"set(OPENREG_TORCH_BELOW 2.{below} CACHE" in cmake
    (python,) = re.findall(r"\| Python \| ([\d.]+) or newer \|", table)
    assert project["requires-python"] == f">={python}"


@pytest.mark.parametrize("path", first_column("Layout"))
def test_layout_names_what_exists(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_links_lead_somewhere(link):
    assert (ROOT / link).is_file()


def test_it_is_short_and_names_ten_pages():
    assert len(README.encode()) < 12_000
    pages = re.findall(r"^\| \[.+?\]\((docs/.+\.md)\) \|", README, re.MULTILINE)
    assert len(pages) == len(set(pages)) == 10


def test_it_says_how_the_project_relates_to_pytorch():
    assert "PyTorch has its own `torch_openreg`" in README


def test_the_picture_is_small():
    assert (ROOT / "docs/_static/screenshot.png").stat().st_size < 200_000

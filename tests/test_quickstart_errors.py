# What a machine that lacks something is told, as docs/start/install.md promises it.
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "start" / "install.md").read_text()


@pytest.fixture(scope="module")
def promised():
    """The messages in the table of the section "While building"."""
    section = PAGE.partition("### While building\n")[2].partition("\n### ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def program(directory, name, output=""):
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(0o755)


def refusal_of_nox(path):
    command = [sys.executable, "-m", "nox", "--no-color", "-s", "build"]
    env = {"PATH": str(path)}
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert result.returncode == 1, result
    return result.stderr


def test_the_page_promises_six_messages(promised):
    assert len(promised) == 6


@pytest.mark.parametrize("number", [0, 1, 2])
def test_nox_says_what_is_missing(number, promised, tmp_path):
    if number > 0:
        program(tmp_path, "g++")
    if number > 1:
        program(tmp_path, "cmake", "cmake version 3.24.9")
    path = f"{tmp_path}:/bin" if number > 1 else tmp_path
    assert promised[number] in refusal_of_nox(path)


def test_python_headers_are_named(promised):
    assert promised[3] in (ROOT / "tests/nox_support/machine.py").read_text()


def test_pip_says_that_ninja_is_missing(promised, tmp_path):
    program(tmp_path, "cmake")
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    command += ["--build-lib", tmp_path / "lib", "--build-temp", tmp_path / "temp"]
    env = os.environ | {"PATH": str(tmp_path)}
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert result.returncode == 1
    assert promised[4] in result.stderr


def test_cmake_says_that_torch_is_missing(promised, tmp_path):
    venv.create(tmp_path / "without-torch", with_pip=False)
    python = tmp_path / "without-torch" / "bin" / "python"
    command = ["cmake", "-S", ROOT, "-B", tmp_path / "build", "-G", "Ninja"]
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    result = subprocess.run(
        [*command, f"-DPython_EXECUTABLE={python}"],
        env=env,
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert promised[5] in " ".join(result.stderr.split())

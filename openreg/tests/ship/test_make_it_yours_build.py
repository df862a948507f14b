# new_backend.py --build, without a compiler; see docs/ship/make-it-yours.md.
"""``nox -s ladder`` builds the copy of the starter with it, and runs its tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

OPENREG = Path(__file__).resolve().parents[2]
sys.path.append(str(OPENREG))  # the last: it also has sources of torch_openreg
from cloning.build import build_and_test  # noqa: E402

SETUP = """
from pathlib import Path
from setuptools import setup

Path("build").mkdir(exist_ok=True)
setup(
    name="tiny", py_modules=["tiny"], options={"egg_info": {"egg_base": "build"}}
)
"""
PYPROJECT = """
[tool.pytest.ini_options]
testpaths = ["tests"]
"""
TEST = """
import importlib.metadata
import os
import tiny

def test_the_built_package_is_the_one():
    assert "build/site" in tiny.__file__

def test_another_backend_is_hidden_and_autoload_is_on():
    assert not importlib.metadata.distribution("torch_openreg").entry_points
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD" not in os.environ
"""


@pytest.fixture
def tiny(tmp_path):
    """What --build takes for a copy: a package, and tests of it."""
    folder = tmp_path / "torch_tiny"
    (folder / "tests").mkdir(parents=True)
    (folder / "setup.py").write_text(SETUP)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "tiny.py").write_text("VALUE = 1\n")
    (folder / "tests/test_tiny.py").write_text(TEST)
    return folder


def test_it_builds_below_the_copy_and_returns_what_pytest_counts(tiny, monkeypatch):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")  # as new_backend.py does
    assert re.fullmatch(r"2 passed in .*s", build_and_test(tiny))
    assert (tiny / "build/site/tiny.py").is_file()
    output = subprocess.run(
        [sys.executable, "-m", "pip", "list"], capture_output=True, text=True
    ).stdout
    assert "pip" in output and "tiny" not in output


def test_the_folder_may_be_relative(tiny, monkeypatch):
    monkeypatch.chdir(tiny.parent)
    assert build_and_test(Path("torch_tiny")).startswith("2 passed")


def test_a_failing_build_names_its_output(tiny, monkeypatch):
    monkeypatch.setenv("CMAKE_ARGS", "-DA=1")
    (tiny / "setup.py").write_text(
        "import os\nraise SystemExit('no: ' + os.environ['CMAKE_ARGS'])\n"
    )
    with pytest.raises(RuntimeError, match=r"the build failed, see .*build\.log"):
        build_and_test(tiny)
    assert "no: -DA=1" in (tiny / "build/build.log").read_text()


def test_a_failing_test_names_its_output(tiny):
    (tiny / "tests/test_tiny.py").write_text("def test_wrong():\n    assert 1 == 2\n")
    with pytest.raises(RuntimeError, match=r"the tests failed, see .*tests\.log"):
        build_and_test(tiny)
    assert "1 failed" in (tiny / "build/tests.log").read_text()


def test_a_driver_that_is_not_there_is_an_error_of_the_command(tmp_path):
    command = [sys.executable, str(OPENREG / "new_backend.py"), "acme", "--build"]
    process = subprocess.run(
        [*command, "--into", "torch_acme"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "CMAKE_ARGS": f"-DDRIVER_ROOT={tmp_path}"},
    )
    assert process.returncode == 1
    log = tmp_path / "torch_acme/build/build.log"
    assert process.stderr.endswith(f"error: the build failed, see {log}\n")
    assert f"{tmp_path}/include" in log.read_text()

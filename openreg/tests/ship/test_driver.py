# Where the package finds its driver; see docs/ship/packaging.md.
"""Each process imports the package, and prints which driver it has loaded."""

import shutil
import subprocess
from pathlib import Path

import pytest
import torch_openreg
from torch_openreg._driver import LIBRARY

PACKAGE = Path(torch_openreg.__path__[-1])
PROGRAM = """
import torch, torch_openreg
assert (torch.ones(2, device="openreg") + 1).tolist() == [2, 2]
lines = open("/proc/self/maps").read().splitlines()
print(*{line.split()[-1] for line in lines if line.endswith("libopenreg.so")})
"""


def loaded(run, **env):
    """The drivers of a process: one, unless something is wrong."""
    process = run(PROGRAM, TORCH_DEVICE_BACKEND_AUTOLOAD="0", **env)
    assert process.returncode == 0, process.stderr
    return process.stdout.split()


@pytest.fixture
def elsewhere(tmp_path):
    driver = tmp_path / "driver" / LIBRARY
    driver.parent.mkdir()
    shutil.copy(PACKAGE / "lib" / LIBRARY, driver)
    return driver


@pytest.fixture
def without_driver(tmp_path):
    """A folder with a package whose wheel had no driver."""
    left_out = shutil.ignore_patterns(LIBRARY, "include", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "torch_openreg", ignore=left_out)
    return str(tmp_path)


def test_the_one_in_the_wheel_is_the_default(run_forked):
    assert loaded(run_forked) == [str(PACKAGE / "lib" / LIBRARY)]


def test_a_variable_names_another_one(run_forked, elsewhere):
    assert loaded(run_forked, OPENREG_DRIVER=str(elsewhere)) == [str(elsewhere)]


def test_an_empty_variable_names_none(run_forked):
    assert loaded(run_forked, OPENREG_DRIVER="") == [str(PACKAGE / "lib" / LIBRARY)]


def test_the_system_has_it(run_python, elsewhere, without_driver):
    where = str(elsewhere.parent)
    env = {"PYTHONPATH": without_driver, "LD_LIBRARY_PATH": where}
    assert loaded(run_python, **env) == [str(elsewhere)]


def refused(run, **env):
    process = run(PROGRAM, TORCH_DEVICE_BACKEND_AUTOLOAD="0", **env)
    assert process.returncode == 1
    return process.stderr.splitlines()[-1]


def test_it_is_nowhere(run_python, without_driver):
    assert refused(run_python, PYTHONPATH=without_driver) == (
        f"ImportError: torch_openreg found no driver: {LIBRARY}: cannot open shared "
        "object file: No such file or directory. Install it, or set OPENREG_DRIVER to "
        f"the path of {LIBRARY}."
    )


def test_the_variable_names_no_file(run_forked):
    error = refused(run_forked, OPENREG_DRIVER="/nowhere.so")
    assert "found no driver: /nowhere.so: cannot open" in error


def test_a_library_of_another_name_is_refused(run_python, tmp_path, without_driver):
    other = tmp_path / "libother.so"
    command = ["cc", "-shared", "-o", str(other), "-Wl,-soname,libother.so", "-xc", "-"]
    subprocess.run(command, input="", text=True, check=True)
    env = {"PYTHONPATH": without_driver, "OPENREG_DRIVER": str(other)}
    assert f"found no driver: {LIBRARY}: cannot open" in refused(run_python, **env)

# A wheel where only torch is, and what pip refuses; see docs/ship/check-wheels.md.
import sys
from pathlib import Path

import pytest
import torch
from packed import empty_wheel, wheel_for

sys.path.append(str(Path(__file__).resolve().parents[2]))
import try_wheel

ROOT = Path(__file__).resolve().parents[3]
PUBLIC = torch.__version__.partition("+")[0]
MAJOR, MINOR = map(int, PUBLIC.split(".")[:2])
PROGRAM = """
import sys
from importlib.metadata import distributions
import torch
assert (torch.ones(2, device="openreg") + 1).tolist() == [2, 2]
print(sys.modules["torch_openreg"].__file__)
print(*sys.path)
print(*sorted(one.name for one in distributions()))
"""


def test_the_backend_runs_where_only_torch_is(tmp_path, capfd):
    requires = f"torch>={MAJOR}.{MINOR},<{MAJOR}.{MINOR + 1}"
    wheel = wheel_for(tmp_path / "dist", PUBLIC, requires)
    status = try_wheel.try_wheel(wheel, PROGRAM, tmp_path)
    printed = capfd.readouterr()
    assert status == 0, printed.err
    loaded, path, names = printed.out.splitlines()
    assert Path(loaded).is_relative_to(tmp_path / "env")
    assert not any(Path(one).is_relative_to(ROOT) for one in path.split())
    assert {"torch", "torch_openreg"} < {*names.split()}
    assert not {"numpy", "pytest", "pip"} & {*names.split()}


@pytest.mark.parametrize(
    "requires",
    [
        f"torch>={MAJOR}.{MINOR - 1},<{MAJOR}.{MINOR}",
        f"torch>={MAJOR}.{MINOR + 1}",
        f"torch=={PUBLIC}+another",
    ],
    ids=["another minor release", "torch is too old", "another build"],
)
def test_pip_refuses_a_wheel_for_another_torch(tmp_path, capfd, requires):
    wheel = empty_wheel(tmp_path, requires)
    program = "raise SystemExit(7)"  # which would be the status
    assert try_wheel.try_wheel(wheel, program, tmp_path) == 1
    words = "No matching distribution found for torch"
    assert words in capfd.readouterr().err


def test_the_command_ends_with_the_status_of_the_program(tmp_path, monkeypatch):
    wheel = empty_wheel(tmp_path, f"torch=={PUBLIC}")  # any build of it
    monkeypatch.setattr("sys.argv", ["try_wheel.py", str(wheel), "raise SystemExit(3)"])
    assert try_wheel.main() == 3


def test_a_python_without_torch_is_refused(monkeypatch):
    with pytest.raises(SystemExit, match="try_wheel: install no-such-torch"):
        try_wheel.with_requirements("no-such-torch")

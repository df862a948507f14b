# Tests of the sessions on another Python and another torch; see CONTRIBUTING.md.
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from nox_support import environments, machine, signals
from nox_support.environments import HERE, Target
from patience import PATIENCE
from recording import RecordingSession, Refused

ROOT = Path(__file__).resolve().parents[1]


# -- a session that a signal ends --

NOXFILE = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import nox
from nox_support.environments import run

@nox.session(venv_backend="none")
def planted(session):
    run(session, Path(sys.executable).parent, "python", "-c", {program!r})
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import os; os.abort()", "was ended by SIGABRT: C++ code called abort(): "),
        (
            "import ctypes; ctypes.string_at(0)",
            "was ended by SIGSEGV: a segmentation fault ",
        ),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL: the system "),
        ("import os; os._exit(134)", "was ended by SIGABRT: "),  # as a shell says it
    ],
)
def test_a_signal_is_explained(tmp_path, program, expected):
    noxfile = tmp_path / "noxfile.py"
    noxfile.write_text(NOXFILE.format(tests=str(ROOT / "tests"), program=program))
    command = [sys.executable, "-m", "nox", "--no-color", "-f", str(noxfile)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 1
    (line,) = re.findall(r"^nox > Session planted aborted: (.*)$", result.stderr, re.M)
    assert line.startswith(f"python -c {program} {expected}")
    assert "Read docs/ship/known-crashes.md; `python -m torch_openreg_diag" in line


def test_another_failure_is_left_as_it_is(tmp_path):
    noxfile = tmp_path / "noxfile.py"
    noxfile.write_text(NOXFILE.format(tests=str(ROOT / "tests"), program="exit(3)"))
    command = [sys.executable, "-m", "nox", "--no-color", "-f", str(noxfile)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 1
    assert "failed with exit code 3" in result.stderr
    assert "was ended by" not in result.stderr


@pytest.mark.parametrize("status", [None, 0, 1, 5, 127, 128, 130, 255, -200])
def test_no_signal(status):
    assert signals.explain("python", status) is None


def test_the_page_has_the_same_words():
    text = (ROOT / signals.PAGE).read_text()
    rows = re.findall(r"^\| (SIG\w+) \| (\d+), (-\d+) \| (.+) \|$", text, re.M)
    assert {name: meaning for name, _, _, meaning in rows} == signals.MEANINGS
    for name, shell, python, _ in rows:
        assert signals.signal_of(int(shell)) == signals.signal_of(int(python)) == name


# -- the choice of a Python --


@pytest.fixture
def pythons(monkeypatch, tmp_path):
    """Put programs on PATH that answer as these Pythons; no other one is there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))

    def plant(name, answer, folder="bin", status=0):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{answer}'\nexit {status}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return plant


def chosen(wanted=None):
    session = RecordingSession()
    return machine.choose_python(session, wanted), "\n".join(session.said)


def test_the_newest_supported_python_is_chosen_and_named(pythons):
    pythons("python3.11", "python 3.11.7 1")
    pythons("python3.12", "python 3.12.1 1")
    newest = pythons("python3.13", "python 3.13.5 1")
    pythons("python3.14", "python 3.14.0 1")  # the tests do not promise to hold there
    pythons("python3.13-config", "python 3.13.5 1")
    pythons("python3.13t", "python 3.13.5 1")
    python, said = chosen()
    assert (python.path, python.version) == (newest, "3.13.5")
    assert said == f"Python 3.13.5: {newest}"
    assert chosen("3.12")[0].version == "3.12.1"
    assert chosen("3.14.0")[0].version == "3.14.0"  # who asks for it gets it


def test_what_does_not_run_or_has_no_headers_is_left_out(pythons):
    pythons("python3.13", "pyenv: python3.13: command not found", status=127)
    pythons("python3.12", "python 3.12.4 0")
    python, said = chosen()
    assert python is machine.THIS
    assert "python3.12 has no headers: left out" in said
    assert "NO SECOND PYTHON: THERE IS NO PYTHON 3.12 OR 3.13" in said
    assert f"This run takes Python {python.version}" in said


def test_versions_of_pyenv_are_found_without_their_programs_on_path(pythons):
    pythons("python3.13", "pyenv: python3.13: command not found", status=127)
    path = pythons("python3.13", "python 3.13.0 1", "pyenv/versions/3.13.0/bin")
    assert chosen()[0].path == path


def test_a_python_that_is_not_there_is_refused(pythons):
    pythons("python3.12", "python 3.12.4 1")
    pythons("python3.9", "python 3.9.1 1")
    with pytest.raises(
        Refused, match=r"no Python 3\.13 with its headers on PATH, but 3"
    ):
        chosen("3.13")
    with pytest.raises(Refused, match=r"but 3\.12\.4\. Install it"):  # and not 3.9
        chosen("3.1")


def test_this_python_answers_the_question():
    command = [sys.executable, "-c", machine.ASK]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.stdout == f"python {machine.THIS.version} 1\n", answer.stderr


# -- the build of torch --


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    for name in ("tests", "docs", "torch"):
        (tmp_path / f"{name}.txt").write_text("")
    return tmp_path


def pip_gives(*answers):
    """A session in which torch answers this after each installation."""
    given = iter(answers)
    return RecordingSession(
        lambda *command: next(given) if command[1] == "-c" else "True"
    )


CUDA, CPU = "torch 2.13.0+cu130 13.0\n", "torch 2.13.0+cpu None\n"


def installs(session):
    return [" ".join(it[1:-1]) for it in session.commands if it[1] == "install"]


def test_the_cuda_build_comes_without_the_settings_of_the_machine(home):
    session = pip_gives(CUDA)
    environments.install_torch(session, home, "cuda")
    assert installs(session) == ["install --no-compile --isolated -r"]


def test_the_settings_help_where_nothing_is_found_without_them(home):
    session = pip_gives("No module named 'torch'", CUDA)
    environments.install_torch(session, home, "cuda")
    assert installs(session)[1:] == ["install --no-compile -r"]


@pytest.mark.parametrize(
    ("build", "answers", "expected"),
    [
        (
            "cuda",
            (CPU, CPU),
            r"torch 2\.13\.0\+cpu, not the cuda .*: set PIP_INDEX_URL",
        ),
        ("cuda", ("", ""), "pip found no torch, not the cuda build"),
        ("cpu", (CUDA,), r"\+cu130, not the cpu build.*, by PIP_EXTRA_INDEX_URL$"),
    ],
)
def test_another_build_is_refused(home, build, answers, expected):
    with pytest.raises(Refused, match=expected):
        environments.install_torch(pip_gives(*answers), home, build)


def test_a_release_is_tried_without_the_settings_of_the_machine_second(home):
    session = pip_gives("", "torch 2.15.0+cu132 13.2\n")
    environments.install_release(session, home, "2.15.0")
    assert [it[1:] for it in session.commands if it[1] == "install"] == [
        ("install", "--no-compile", "torch==2.15.0")
    ] * 2
    with pytest.raises(
        Refused, match=r"installed torch 2\.13\.0\+cpu, not 2\.15\.0\. D"
    ):
        environments.install_release(pip_gives(CPU, CPU), home, "2.15.0")


def test_the_environment_of_a_release_leaves_the_pin_out(home):
    (home / "tests.txt").write_text("-r torch.txt\npytest==9.2.0\n")
    (home / ".nox/tests-on-2.15.0-3.11").mkdir(parents=True)
    python = machine.Interpreter(Path("/usr/bin/python3.11"), "3.11.7")
    target = Target(python, torch="2.15.0")
    session = pip_gives("torch 2.15.0+cu132 13.2\n")
    environments.environment(session, "tests", target)
    *_, last = (it for it in session.commands if it[1] == "install")
    assert Path(last[-1]).read_text() == "pytest==9.2.0\n"


def test_each_target_has_environments_of_its_own(home):
    python = machine.Interpreter(Path("/usr/bin/python3.13"), "3.13.1")
    target = Target(python, "cuda")
    assert target.named("tests") == "tests-on-cuda-3.13"
    assert HERE.named("tests") == "tests"
    packages = Path("lib/python3.13/site-packages")
    for name in ("tests", "docs"):
        (home / f".nox/{name}-on-cuda-3.13" / packages).mkdir(parents=True)
        session = pip_gives(CUDA)
        environments.environment(session, name, target)
        assert session.commands[0][-3:-1] == ("--python", str(python.path))
    lender = home / ".nox/tests-on-cuda-3.13" / packages
    borrowed = home / ".nox/docs-on-cuda-3.13" / packages / "borrowed.pth"
    assert borrowed.read_text() == f"{lender}\n"
    (install,) = [it for it in session.commands if it[1] == "install"]
    assert "--no-deps" in install and "--isolated" not in install  # it borrows torch

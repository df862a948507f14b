"""Tests of noxfile.py: what it refuses, in which words, and when it works again."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from nox_support import driver, environments, site, soak, wheels
from patience import PATIENCE
from recording import RecordingSession, Refused, load

ROOT = Path(__file__).resolve().parent.parent
NEEDS_COMPILER = [
    "bench",
    "build",
    "clients",
    "clone",
    "compiler",
    "coverage",
    "docs",
    "doctest",
    "ladder",
    "live",
    "opencl",
    "serving",
    "soak",
    "starter",
    "sweep",
    "tests",
    "triton",
    "versions",
]
SESSIONS = sorted(
    [*NEEDS_COMPILER, "aarch64", "browser", "lint", "lock", "surface", "tests-on"]
)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A repository that is empty, for the environments and what they are made from."""
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    return tmp_path


def nox(*arguments, path=None, **environment):
    """Runs nox on this repository, with nothing but `path` to find programs in."""
    env = {"PATH": os.environ["PATH"] if path is None else str(path), **environment}
    command = [sys.executable, "-m", "nox", "--no-color", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE
    )


def refusal(result):
    """The one line with which a session ended; there must be nothing else to read."""
    assert result.returncode == 1, result
    assert "Traceback" not in result.stderr
    lines = re.findall(
        r"^nox > Session [\w-]+ aborted: (.*)$", result.stderr, re.MULTILINE
    )
    assert len(lines) == 1, result.stderr
    return lines[0]


def program(directory, name, output="", status=0):
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{output}'\nexit {status}\n")
    path.chmod(0o755)


def test_every_session_says_what_it_does():
    lines = nox("-l").stdout
    listed = dict(re.findall(r"^[*-] ([\w-]+) -> (.*)$", lines, re.MULTILINE))
    assert sorted(listed) == SESSIONS
    for description in listed.values():
        assert 30 < len(description) < 90, description


def test_the_noxfile_runs_by_itself():
    command = [sys.executable, str(ROOT / "noxfile.py"), "--list"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "* docs -> Build the backend" in result.stdout


def test_unknown_session():
    result = nox("-s", "dosc")
    assert result.returncode != 0
    assert "Sessions not found: dosc" in result.stderr


@pytest.mark.parametrize("session", NEEDS_COMPILER)
def test_no_compiler(session, tmp_path):
    assert refusal(nox("-s", session, path=tmp_path)) == (
        "There is no c++, g++ or clang++ on PATH to compile C++ with. "
        "Install a compiler (Debian, Ubuntu: apt-get install g++)."
    )


def test_chosen_compiler_does_not_exist(tmp_path):
    program(tmp_path, "c++")
    line = refusal(nox("-s", "build", path=tmp_path, CXX="no-such-c++ -m64"))
    assert line.startswith("There is no CXX=no-such-c++ on PATH")


def test_no_cmake(tmp_path):
    program(tmp_path, "clang++")
    assert refusal(nox("-s", "docs", path=tmp_path)) == (
        "cmake is not on PATH. "
        "Install CMake 3.25 or newer (Debian, Ubuntu: apt-get install cmake)."
    )


@pytest.mark.parametrize(
    ("output", "status", "expected"),
    [
        ("cmake version 3.24.9", 0, "cmake is too old: 3.24."),
        ("cmake version 2.30.0", 0, "cmake is too old: 2.30."),
        ("", 127, "cmake is broken: cmake --version fails."),
    ],
)
def test_useless_cmake(tmp_path, output, status, expected):
    program(tmp_path, "g++")
    program(tmp_path, "cmake", output, status)
    line = refusal(nox("-s", "tests", path=f"{tmp_path}:/bin"))
    assert line.startswith(f"{expected} Install CMake 3.25 or newer")


def test_no_browser(tmp_path):
    line = refusal(nox("-s", "browser", path=tmp_path))
    assert line.startswith("Chromium is not on PATH. Install it (Debian, Ubuntu: ")


def test_no_gcov(tmp_path):
    program(tmp_path, "clang++")
    program(tmp_path, "cmake", "cmake version 3.25.1")
    line = refusal(nox("-s", "coverage", path=tmp_path))
    assert line.startswith("g++ and its gcov are not on PATH")


@pytest.mark.parametrize("session", ["build", "coverage", "docs", "starter"])
def test_arguments_that_would_be_ignored(session):
    line = refusal(nox("-s", session, "--", "--fast"))
    assert line == f"{session} takes no arguments, not ['--fast']."


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["3.13"],
        ["cuda", "cpu"],
        ["cuda", "3.12", "3.13"],
        ["cuda", "2.14", "smoke"],
        ["cuda", "2.15.0"],
        ["2.15.0", "2.14.1"],
    ],
)
def test_arguments_of_tests_on(words):
    line = refusal(nox("-s", "tests-on", "--", *words))
    assert line == (
        "tests-on takes a build of torch, cuda or cpu, or a release, such as 2.15.0, "
        f"and may take a Python, such as 3.13, and the word smoke, not {words}."
    )


def test_unknown_argument_of_ladder():
    line = refusal(nox("-s", "ladder", "--", "knockout"))
    names = "ladder or all or knockouts or conformance"
    assert line == f"ladder takes {names}, not ['knockout']."


def test_ladder_writes_the_page_that_is_chosen(noxfile, monkeypatch):
    monkeypatch.setattr(noxfile, "install_backend", lambda session: Path("tools"))
    for chosen, script in (
        ([], "ladder.py"),
        (["knockouts"], "starter_knockouts.py"),
        (["conformance"], "conformance_knockouts.py"),
    ):
        session = RecordingSession()
        session.posargs = chosen
        noxfile.ladder(session)
        assert [command[-1] for command in session.commands] == [
            f"openreg/tests/tools/{script}"
        ]


def test_unknown_release_of_versions():
    line = refusal(nox("-s", "versions", "--", "2.12.0"))
    assert line == "versions takes some of 2.13.0, 2.14.1, 2.15.0, not ['2.12.0']."


def test_surface_takes_two_releases():
    line = refusal(nox("-s", "surface", "--", "2.15.0"))
    assert line == "surface takes two releases of torch, such as 2.14.1 2.15.0."


def test_unknown_argument_of_lint():
    line = refusal(nox("-s", "lint", "--", "--fixx"))
    assert line == "lint takes no argument but --fix, not ['--fixx']."


def test_unknown_lock(noxfile, monkeypatch):
    monkeypatch.setattr(noxfile, "new_environment", lambda session, name: Path("bin"))
    session = RecordingSession()
    session.posargs = ["tets"]
    with pytest.raises(Refused, match=r"there is no requirements/tets.in to lock"):
        noxfile.lock(session)


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        ("platform", "darwin", "OpenReg needs Linux; this is darwin"),
        ("version_info", (3, 10, 4), r"Python 3.11 or newer; nox runs on 3\.10\.4"),
    ],
)
def test_unsupported_machine(noxfile, monkeypatch, attribute, value, expected):
    monkeypatch.setattr(noxfile.sys, attribute, value)
    with pytest.raises(Refused, match=expected):
        noxfile.check_machine(RecordingSession())


def test_no_python_headers(noxfile, monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(Refused, match=r"headers are missing .*python3-dev"):
        noxfile.check_machine(RecordingSession())


def test_this_machine_is_accepted(noxfile):
    noxfile.check_machine(RecordingSession())


def test_no_googletest_is_said_loudly(noxfile, tmp_path):
    configure = ["cmake", "-G", "Ninja", "-S", driver.DRIVER, "-B", tmp_path]
    hidden = ["-DOPENREG_BUILD_TESTS=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"]
    answer = subprocess.run([*configure, *hidden], capture_output=True, text=True)
    session = RecordingSession(answer.stdout + answer.stderr)
    noxfile.test_driver(session, Path("bin"))
    assert any("GOOGLETEST IS MISSING" in line for line in session.said), answer
    assert len(session.commands) == 1, "nothing may be built or run without it"


def test_driver_tests_run_plain_and_under_both_sanitizers(noxfile):
    session = RecordingSession("-- Generating done")
    noxfile.test_driver(session, Path("bin"))
    ran = [Path(command[0]).name for command in session.commands]
    assert ran == ["cmake", "cmake", "ctest"] * 3
    sanitizers = [command[-1] for command in session.commands[::3]]
    assert sanitizers == [
        f"-DOPENREG_SANITIZE={it}" for it in ("", "address", "thread")
    ]


def test_the_wheel_is_checked_in_three_ways(monkeypatch):
    monkeypatch.setattr(wheels, "environment", lambda session, name: Path(name, "bin"))
    session = RecordingSession()
    wheels.check_wheel(session, Path("tests", "bin"), Path("a.whl"))
    shared, fits, bare = session.commands
    assert shared[1] == "openreg/check_wheel.py" and shared[-1] == "a.whl"
    assert fits[1:] == ("show", "a.whl")
    assert bare[1:] == ("openreg/try_wheel.py", "a.whl", wheels.FIRST_TENSOR)


@pytest.mark.parametrize("sanitize", [False, True])
def test_the_soak_runs_on_the_build_that_is_asked_for(monkeypatch, tmp_path, sanitize):
    monkeypatch.setattr(soak, "BUILD", tmp_path)
    session = RecordingSession()
    session.posargs = [*(["--sanitize"] if sanitize else []), "--minutes", "2"]
    soak.run_soak(session, Path("tests", "bin"))
    *built, ran = session.commands
    own = ["--sanitizer", "address"] if sanitize else []
    script = "openreg/tests/tools/run_soak.py"
    assert ran[1:] == (script, "--minutes", "30", "--minutes", "2", *own)
    assert len(built) == (3 if sanitize else 0)
    package = tmp_path / "backend-address/site/torch_openreg"
    assert (package / "__init__.py").exists() == sanitize


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_fingerprint_follows_the_sources_only(noxfile, monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    write(tmp_path / "src" / "a.cpp", "int a;")
    first = noxfile.fingerprint(["src"])
    write(tmp_path / "src" / "tests" / "t.cpp", "int t;")
    write(tmp_path / "src" / "lib.so", "built")
    assert noxfile.fingerprint(["src"]) == first
    monkeypatch.setattr(environments, "INSTALLED", ["src/include"])
    write(tmp_path / "src" / "include" / "a.h", "int a;")
    assert noxfile.fingerprint(["src"]) == first
    write(tmp_path / "src" / "a.cpp", "int b;")
    changed = noxfile.fingerprint(["src"])
    (tmp_path / "src" / "a.cpp").rename(tmp_path / "src" / "b.cpp")
    renamed = noxfile.fingerprint(["src"])
    monkeypatch.setenv("CXX", "clang++")
    assert len({first, changed, renamed, noxfile.fingerprint(["src"])}) == 4


def test_fingerprint_reads_a_repository_below_a_folder_of_tests(
    noxfile, monkeypatch, tmp_path
):
    monkeypatch.setattr(environments, "ROOT", tmp_path / "tests")
    write(tmp_path / "tests" / "src" / "a.cpp", "int a;")
    first = noxfile.fingerprint(["src"])
    write(tmp_path / "tests" / "src" / "a.cpp", "int b;")
    assert noxfile.fingerprint(["src"]) != first


def test_fingerprinted_paths_exist(noxfile):
    names = [*noxfile.SITE_SOURCES, *noxfile.EXAMPLE_SOURCES]
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_a_page_runs_again_only_when_something_changed(noxfile, monkeypatch, tmp_path):
    for module in (noxfile, environments, site):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(noxfile, "BUILD", tmp_path / "build")
    monkeypatch.setattr(noxfile, "EXAMPLE_SOURCES", ["src"])
    monkeypatch.setattr(noxfile, "environment", lambda session, name: tmp_path)
    for name in ("docs/a.md", "docs/b/c.md", "docs/_ext/not-a-page.md", "src/x.cpp"):
        write(tmp_path / name, "one")
    ran: list[str] = []

    def run_pages(session: object, *pages: str) -> Path:
        ran.extend(pages or ["all"])
        if "fails" in (tmp_path / "docs/a.md").read_text():
            raise RuntimeError
        return tmp_path

    def changed() -> list[str]:
        ran.clear()
        noxfile.run_changed_pages(RecordingSession())
        return list(ran)

    monkeypatch.setattr(noxfile, "run_pages", run_pages)
    assert changed() == ["all"]
    assert changed() == []
    write(tmp_path / "docs/b/c.md", "two")
    assert changed() == ["docs/b/c.md"]
    write(tmp_path / "src/x.cpp", "two")
    assert changed() == ["all"]
    write(tmp_path / "docs/a.md", "fails")
    for _ in range(2):  # a page that failed is not forgotten
        with pytest.raises(RuntimeError):
            changed()


@pytest.mark.parametrize("chosen", [[], ["--quick", "-k", "softmax"]])
def test_sweep_takes_all_samples_unless_it_is_told_otherwise(
    noxfile, monkeypatch, chosen
):
    monkeypatch.setattr(noxfile, "install_backend", lambda session: Path("tools"))
    monkeypatch.setattr(
        noxfile, "run", lambda session, _, *command: ran.append(command)
    )
    ran: list[tuple[str, ...]] = []
    session = RecordingSession()
    session.posargs = chosen
    noxfile.sweep(session)
    report = str(noxfile.BUILD / "sweep.json")
    script = "openreg/tests/tools/sweep_operators.py"
    assert ran == [("python", script, "--full", "--json", report, *chosen)]
    assert session.said == [f"verdicts: {report}"]


def test_environment_is_made_once_and_again_when_its_lock_changes(noxfile, home):
    write(home / "lint.txt", "ruff==1\n")
    write(home / "torch.txt", "torch==2\n")
    (home / ".nox" / "lint").mkdir(parents=True)
    counts = []
    for text in ("ruff==1\n", "ruff==1\n", "ruff==2\n"):
        write(home / "lint.txt", text)
        session = RecordingSession()
        assert noxfile.environment(session, "lint") == home / ".nox" / "lint" / "bin"
        counts.append(len(session.commands))
    assert counts == [2, 0, 2]  # virtualenv and pip; nothing; both again


def test_an_environment_borrows_what_it_lacks(tmp_path):
    packages = Path("lib", f"python3.{sys.version_info.minor}", "site-packages")
    for name in ("borrower", "lender"):
        venv.create(tmp_path / name, with_pip=False, symlinks=True)
        write(tmp_path / name / packages / "shared.py", f"owner = '{name}'")
    write(tmp_path / "lender" / packages / "lent.py", "owner = 'lender'")
    environments.borrow(tmp_path / "borrower", tmp_path / "lender")
    python = tmp_path / "borrower" / "bin" / "python"
    code = "import lent, shared; print(lent.owner, shared.owner)"
    printed = subprocess.run([python, "-c", code], capture_output=True, text=True)
    assert printed.stdout == "lender borrower\n", printed.stderr


@pytest.mark.parametrize(
    ("source", "torch"), [("-r torch.txt\nzebra\n", ["-r torch.txt"]), ("zebra\n", [])]
)
def test_lock_leaves_torch_to_its_own_file(source, torch):
    found = {
        "torch": "9.9+cpu",
        "Zebra": "1.0",
        "nvidia-cublas": "13",
        "attrs": "26.1.0",
    }
    report = [{"metadata": {"name": k, "version": v}} for k, v in found.items()]
    lines = load("requirements/lock.py").lock("tests", source, report).splitlines()
    assert lines[1:] == [*torch, "attrs==26.1.0", "zebra==1.0"]


def requirements(path):
    lines = path.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


LOCKS = ["browser", "clients", "coverage", "docs", "lint", "live", "tests", "wheel"]


@pytest.mark.parametrize("name", LOCKS)
def test_lock_file_pins_everything_asked_for(name):
    locked = requirements(ROOT / "requirements" / f"{name}.txt")
    for line in locked:
        assert line == "-r torch.txt" or re.fullmatch(r"[\w.-]+==[\w.]+", line), line
    pinned = {line.partition("==")[0] for line in locked}
    for line in requirements(ROOT / "requirements" / f"{name}.in"):
        if line == "-c torch.txt":
            continue
        asked = re.match(r"-r torch.txt|[\w.-]+", line).group()
        assert asked in pinned, f"{line} is not locked; run: nox -s lock -- {name}"
        if "==" in line:
            assert line in locked, f"{line} is locked differently"


def test_torch_is_pinned_in_one_place():
    named = ["pyproject.toml", "setup.py", "noxfile.py", "CMakeLists.txt"]
    paths = [ROOT / name for name in named]
    for folder in ("requirements", ".ci"):
        paths += sorted(path for path in (ROOT / folder).iterdir() if path.is_file())
    pinned = [path.name for path in paths if "torch==" in path.read_text()]
    assert pinned == ["torch.txt"]

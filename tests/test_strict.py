# Warnings of the compiler are errors in the gate alone; see docs/start/architecture.md.
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nox_support import environments, strict
from patience import PATIENCE
from recording import RecordingSession

ROOT = Path(__file__).resolve().parents[1]
STRICT = "-DOPENREG_WERROR=ON"


@pytest.mark.parametrize("source", [".", "openreg/third_party/openreg"])
@pytest.mark.parametrize("options", [[], [STRICT]])
def test_a_users_build_goes_on_after_a_warning(tmp_path, source, options):
    configure = ["cmake", "-G", "Ninja", "-S", ROOT / source, "-B", tmp_path, *options]
    configure += ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DOPENREG_BUILD_TESTS=OFF"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}"]
    process = subprocess.run(configure, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    ours = [it["command"] for it in commands if "/csrc/" in it["file"]]
    assert len(ours) > 15
    for command in ours:
        assert " -Wall -Wextra" in command
        assert (" -Werror" in command) == bool(options)


@pytest.fixture
def elsewhere(noxfile, monkeypatch, tmp_path):
    """The sessions, with a build folder that is empty."""
    monkeypatch.setattr(noxfile, "BUILD", tmp_path)
    monkeypatch.setattr(strict, "STAMP", tmp_path / "strict.key")
    for module in (noxfile, strict):
        monkeypatch.setattr(module, "environment", lambda *arguments: tmp_path)
        monkeypatch.setattr(module, "check_machine", lambda session: None)
    return noxfile


def test_lint_compiles_with_warnings_as_errors_once(elsewhere):
    first, second = RecordingSession(), RecordingSession()
    strict.compile_strictly(first, "of these sources")
    configure, build = first.commands
    assert STRICT in configure and build[1] == "--build"
    strict.compile_strictly(second, "of these sources")
    assert second.commands == []
    assert second.said == ["C++: unchanged since it compiled with warnings as errors"]


@pytest.mark.parametrize("arguments", ["", f"{STRICT} -DSOMETHING=1"])
def test_a_build_of_the_gate_spares_lint_the_work(
    elsewhere, monkeypatch, tmp_path, arguments
):
    monkeypatch.setenv("CMAKE_ARGS", arguments)
    monkeypatch.setattr(elsewhere, "WHEELS", tmp_path / "dist")

    def wheel(*command):
        (tmp_path / "dist").mkdir(exist_ok=True)
        (tmp_path / "dist" / "torch_openreg-1.whl").write_text("")

    elsewhere.install_backend(RecordingSession(wheel))
    key = environments.fingerprint(elsewhere.BACKEND_SOURCES)
    spared = environments.is_current(tmp_path / "strict.key", key)
    assert spared == bool(arguments)


@pytest.mark.parametrize("arguments", ["", STRICT])
def test_the_driver_is_built_in_the_same_way(
    elsewhere, monkeypatch, tmp_path, arguments
):
    monkeypatch.setenv("CMAKE_ARGS", arguments)
    session = RecordingSession("-- Generating done")
    elsewhere.test_driver(session, tmp_path)
    assert all((STRICT in it) == bool(arguments) for it in session.commands[::3])


SETUP = [sys.executable, "setup.py", "--quiet", "build_ext"]


@pytest.mark.parametrize(
    ("more", "made_before", "batches"),
    [([], False, True), ([], True, False), (["--inplace"], False, False)],
)
def test_a_wheel_is_compiled_in_batches(tmp_path, more, made_before, batches):
    """The first installation decides, so that the next one compiles only changes."""
    for tool in ("cmake", "ninja"):
        script = tmp_path / tool
        script.write_text('#!/bin/sh\necho "$*" >> "$SEEN"\n')
        script.chmod(0o755)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "openreg/torch_openreg/openreg").mkdir(parents=True)
    env = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "SEEN": str(tmp_path / "seen"),
        "CMAKE_ARGS": "-DA=1 '-DB=x y'",
    }
    seen = run_setup(tmp_path, env, more)
    if made_before:
        (tmp_path / "seen").unlink()
        folder = Path(seen.split(" -B ")[1].split()[0])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "CMakeCache.txt").write_text("")
        seen = run_setup(tmp_path, env, more)
    assert ("-DCMAKE_UNITY_BUILD=ON" in seen) == batches
    assert "-DA=1 -DB=x y" in seen


def run_setup(folder, env, more):
    subprocess.run([*SETUP, *more], cwd=folder, env=env, check=True, timeout=PATIENCE)
    return (folder / "seen").read_text().splitlines()[0]

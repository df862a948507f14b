# What `nox -s lint` compiles for Arm, and what it says without the compiler; see
# docs/ship/arm.md.
import shutil

import pytest
from nox_support import arm
from recording import RecordingSession


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A build folder that is empty, an environment with torch's headers, a compiler."""
    tools = tmp_path / "tests/bin"
    (tmp_path / "tests/lib/python3.11/site-packages/torch/include").mkdir(parents=True)
    (tmp_path / "aarch64").mkdir()
    monkeypatch.setattr(arm, "BUILD", tmp_path)
    monkeypatch.setattr(arm, "environment", lambda session, name: tools)
    monkeypatch.setattr(shutil, "which", lambda name, **options: f"/bin/{name}")
    return tmp_path


def test_the_driver_and_the_files_that_choose_are_compiled_with_errors(machine):
    session = RecordingSession()
    arm.compile_for_arm(session, "of these sources")
    configure, build, *files = session.commands
    assert "-DOPENREG_WERROR=ON" in configure
    assert f"-DCMAKE_CXX_COMPILER={arm.COMPILER}" in configure
    assert build[1] == "--build"
    sources = [command[command.index("-c") + 1] for command in files]
    names = ("HostKernel.cpp", "LaunchState.cpp")
    assert sources == [f"openreg/csrc/kernels/cpu/{name}" for name in names]
    assert all("-Werror" in command for command in files)
    assert (machine / "aarch64.txt").read_text() == "the driver and 2 files compiled\n"


def test_sources_that_did_not_change_are_not_compiled_again(machine):
    arm.compile_for_arm(RecordingSession(), "of these sources")
    second = RecordingSession()
    arm.compile_for_arm(second, "of these sources")
    assert second.commands == []
    assert second.said == ["Arm: unchanged since it compiled with warnings as errors"]
    third = RecordingSession()
    arm.compile_for_arm(third, "of others")
    assert third.commands


def test_a_machine_without_the_compiler_is_told_so(machine, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name, **options: None)
    session = RecordingSession()
    arm.compile_for_arm(session, "of these sources")
    assert session.commands == []
    (told,) = session.said
    assert told.startswith("NOT COMPILED FOR ARM: aarch64-linux-gnu-g++ IS MISSING.")
    assert "apt-get install g++-aarch64-linux-gnu" in told
    assert "not compiled" in (machine / "aarch64.txt").read_text()

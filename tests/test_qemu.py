"""Tests of `nox -s aarch64`: what it refuses, how it builds a wheel, what it counts."""

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from nox_support import environments, qemu
from recording import RecordingSession, Refused

REPORT = """<testsuites><testsuite>
<testcase classname="openreg.tests.runtime.test_device" name="a"/>
<testcase classname="openreg.tests.runtime.test_device" name="b"><skipped/></testcase>
<testcase classname="openreg.tests.runtime.test_stream.TestX" name="c"><failure/>
</testcase>
<testcase classname="openreg.tests.runtime.test_stream" name="d"><error/></testcase>
<testcase classname="openreg.tests.runtime.test_stream_order" name="e"/>
</testsuite></testsuites>"""


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with all that the session needs."""
    monkeypatch.setattr(shutil, "which", lambda name, **options: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    monkeypatch.setattr(qemu, "EMULATOR", tmp_path)
    return monkeypatch


def refusal() -> str:
    with pytest.raises(Refused) as refused:
        qemu.refuse_machine(RecordingSession())
    return str(refused.value)


def test_a_machine_with_everything_is_not_refused(machine):
    qemu.refuse_machine(RecordingSession())


def test_missing_programs_are_named_by_their_packages(machine):
    machine.setattr(shutil, "which", lambda name: None if "qemu" in name else name)
    assert refusal().startswith("Install qemu-user-static (")
    machine.setattr(shutil, "which", lambda name: None)
    assert "debootstrap qemu-user-static g++-aarch64-linux-gnu" in refusal()


def test_another_python_is_refused(machine):
    machine.setattr(sys, "version_info", (3, 13, 0))
    assert "Run nox with Python 3.11" in refusal()


def test_only_root_may_make_the_tree(machine):
    machine.setattr(os, "geteuid", lambda: 1000)
    assert "only root" in refusal()


def test_the_registration_of_qemu_is_explained(machine, tmp_path):
    machine.setattr(qemu, "EMULATOR", tmp_path / "binfmt_misc/qemu-aarch64")
    assert f"> {tmp_path}/binfmt_misc/register" in refusal()


def test_other_arguments_are_refused():
    session = RecordingSession()
    session.posargs = ["--record"]
    with pytest.raises(Refused, match="nothing, or --record COMMIT"):
        qemu.try_on_arm(session, Path("tools"), [])


def test_the_wheel_is_built_with_the_settings_of_the_other_python(
    monkeypatch, tmp_path
):
    home, tree = tmp_path / "home", tmp_path / "tree"
    for name, path in (("HOME", home), ("TREE", tree), ("BACKEND", tree / "backend")):
        monkeypatch.setattr(qemu, name, path)
    packages = tmp_path / "python/lib/python3.11/site-packages"
    settings = tree / "usr/lib/python3.11/_sysconfigdata__aarch64-linux-gnu.py"
    for folder in (home, packages, settings.parent):
        folder.mkdir(parents=True)
    settings.write_text("")
    monkeypatch.setattr(
        qemu, "new_environment", lambda session, name: tmp_path / "python/bin"
    )
    given = {}

    def run(session, tools, *command, env):
        given.update(env, command=command)
        with zipfile.ZipFile(home / "torch_openreg-1-linux_aarch64.whl", "w") as wheel:
            wheel.writestr("torch_openreg/__init__.py", "")

    monkeypatch.setattr(qemu, "run", run)
    qemu.build_wheel(RecordingSession(), Path("tools"), "key")
    assert given.pop("command")[:2] == ("pip", "wheel")
    assert given["_PYTHON_SYSCONFIGDATA_NAME"] == settings.stem
    assert (packages / settings.name).exists()
    assert "-DCMAKE_SYSTEM_PROCESSOR=aarch64" in given["CMAKE_ARGS"]
    assert (tree / "backend/torch_openreg/__init__.py").exists()
    given.clear()
    qemu.build_wheel(RecordingSession(), Path("tools"), "key")  # nothing has changed
    assert given == {}
    shutil.rmtree(tree / "backend")  # as with a new tree
    qemu.build_wheel(RecordingSession(), Path("tools"), "key")
    assert given and (tree / "backend/torch_openreg/__init__.py").exists()


def test_the_files_of_a_report_are_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(qemu, "TREE", tmp_path)
    monkeypatch.setattr(
        qemu, "TESTS", ["runtime/test_device.py", "runtime/test_stream.py"]
    )
    (tmp_path / "opt").mkdir()

    def run(*command, **options):
        (tmp_path / "opt/report").write_text(REPORT)

    monkeypatch.setattr(qemu, "run", run)
    assert qemu.run_tests(RecordingSession(), Path("tools")) == [
        "| `runtime/test_device.py` | 1 | 0 |",
        "| `runtime/test_stream.py` | 0 | 2 |",
    ]
    monkeypatch.setattr(qemu, "run", lambda *command, **options: None)
    with pytest.raises(Refused, match="without a report"):
        qemu.run_tests(RecordingSession(), Path("tools"))


def test_what_is_recorded_is_a_table_of_the_guide(monkeypatch, tmp_path):
    monkeypatch.setattr(qemu, "RECORDED", tmp_path / "aarch64.json")
    qemu.record(["| a |", "|---|", "| 1 |"], "abc")
    kept = json.loads((tmp_path / "aarch64.json").read_text())
    assert kept["commit"] == "abc" and kept["tables"]["tests"][2] == "| 1 |"
    assert kept["torch"] in (environments.LOCKS / "torch.txt").read_text()
    assert set(kept) == {"date", "commit", "torch", "machine", "tables"}


def test_the_tests_that_run_are_there():
    assert [
        name
        for name in qemu.TESTS
        if not qemu.ROOT.joinpath("openreg/tests", name).is_file()
    ] == []

# The diagnosis shows what works and what is wrong; see docs/ship/diagnose.md.
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch_openreg
import torch_openreg_diagnose
from patience import PATIENCE
from torch_openreg import _version_guard

INSTALLED = Path(torch_openreg.__file__).parent


def diagnose(*arguments: str, path: Path | None = None, **env: str):
    """Run the command; with ``path``, for the package that lies in that folder."""
    if path:
        env["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, "-P", "-m", "torch_openreg_diagnose", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **env},
    )


def report_of(path: Path | None = None, status: int = 0, **env: str):
    process = diagnose("--json", path=path, **env)
    assert process.returncode == status, process.stdout + process.stderr
    return json.loads(process.stdout)


def problems(report) -> list[str]:
    assert all(problem["remedy"] for problem in report["problems"])
    return [problem["problem"] for problem in report["problems"]]


@pytest.fixture
def copy(tmp_path):
    """A copy of the installed package, which a test may break."""

    def ignore(folder: str, names: list[str]) -> set[str]:
        return {"__pycache__", "include", "share"} & set(names)

    shutil.copytree(INSTALLED, tmp_path / "torch_openreg", ignore=ignore)
    return tmp_path / "torch_openreg"


@pytest.mark.smoke
def test_a_sound_installation_has_no_problem():
    report = report_of()
    assert report["loaded"] and report["problems"] == [] and report["error"] is None
    assert report["versions"]["torch"] == torch.__version__
    assert report["build"]["torch_version"] == torch.__version__
    assert report["autoload"]["found"] and report["autoload"]["enabled"]
    assert [file["path"] for file in report["files"].values()] == [
        *map(str, INSTALLED.glob("_C.*.so")),
        *(
            str(INSTALLED / "lib" / name)
            for name in ("libtorch_bindings.so", "libtorch_openreg.so", "libopenreg.so")
        ),
    ]
    assert all(file["bytes"] for file in report["files"].values())
    assert report["torch"]["accelerator"] == "openreg"
    assert report["torch"]["cuda"] == (torch.version.cuda or "not in this build")
    for index in range(torch.openreg.device_count()):
        told = report["devices"][f"openreg:{index}"]
        properties = torch.openreg.get_device_properties(index)._asdict()
        assert properties.items() <= told.items()
        assert 0 < told["free_memory"] <= told["total_memory"]


@pytest.mark.smoke
@pytest.mark.parametrize("local", ["+cpu", "+cu130", ""])
def test_the_version_of_torch_has_its_local_part(tmp_path, local):
    package, metadata = tmp_path / "torch", tmp_path / "torch-9.9.0.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('broken')")
    (package / "version.py").write_text(f"__version__ = '9.9.0{local}'")
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: torch\nVersion: 9.9.0\n")
    assert report_of(tmp_path, status=1)["versions"]["torch"] == f"9.9.0{local}"
    (package / "version.py").unlink()  # a folder that only looks like torch
    assert report_of(tmp_path, status=1)["versions"]["torch"] == "9.9.0"


@pytest.mark.smoke
def test_what_is_registered_was_asked_and_each_piece_is_in_one_of_the_lists(run_python):
    report = report_of()
    registered, missing = report["registered"], report["missing"]
    assert set(registered).isdisjoint(missing)
    needed = {"name", "device module", "methods", "log name", "guard", "hooks"}
    needed |= {"device allocator", "host allocator", "generator", "serialization"}
    assert needed <= set(registered)
    optional = {"autocast", "graph", "profiler", "distributed backend"}
    assert (
        set(registered) | set(missing) == needed | {"kernels", "fallbacks"} | optional
    )
    # In a separate process: other tests register kernels here.
    ask = "torch._C._dispatch_get_registrations_for_dispatch_key('PrivateUse1')"
    kernels = run_python(f"import torch; print(len({ask}))").stdout.strip()
    assert f"PrivateUse1 {kernels}," in registered["kernels"]
    key = torch._C.DispatchKey.AutocastPrivateUse1
    assert torch._C._dispatch_has_backend_fallback(key) == (
        "AutocastPrivateUse1" in registered["fallbacks"]
    )


def test_the_environment_shows_in_the_report():
    report = report_of(OPENREG_DEVICE_COUNT="3", OPENREG_FALLBACK="error", SECRET="x")
    assert len(report["devices"]) == 3
    assert report["fallback"]["mode"] == "error"
    assert report["environment"]["OPENREG_DEVICE_COUNT"] == "3"
    assert "SECRET" not in report["environment"]


def test_people_read_the_same():
    process = diagnose()
    assert process.returncode == 0, process.stderr
    for part in ("versions", "build", "files", "autoload", "devices", "registered"):
        assert f"\n{part}:\n" in f"\n{process.stdout}"
    assert process.stdout.endswith("no problem found\n")


def test_autoload_is_off():
    report = report_of(status=1, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert problems(report) == [
        "TORCH_DEVICE_BACKEND_AUTOLOAD is '0': import torch loads no backend"
    ]
    assert report["loaded"] and not report["autoload"]["enabled"]


def test_there_is_no_entry_point():
    hidden = Path(__file__).parents[1] / "autoload/without_openreg"
    report = report_of(hidden, status=1)
    (problem,) = problems(report)
    assert "no entry point torch.backends names torch_openreg" in problem


def test_there_is_no_device():
    report = report_of(status=1, OPENREG_DEVICE_COUNT="0")
    (problem,) = problems(report)
    assert problem.startswith("there is no device: ")
    assert report["loaded"] and report["devices"] == {}
    assert "guard" in report["missing"]


@pytest.mark.smoke
def test_a_build_for_another_torch(copy):
    (copy / "_build_info.py").write_text('TORCH_VERSION = "2.12.1"\n')
    report = report_of(copy.parent, status=1)
    (problem,) = problems(report)
    assert problem == (
        f"torch_openreg was built for torch 2.12.1, but torch {torch.__version__} is "
        "installed"
    )
    with pytest.raises(ImportError) as refused:
        _version_guard.check(torch.__version__, "2.12.1")
    assert report["error"].startswith(f"ImportError: {str(refused.value)[:100]}")
    text = diagnose(path=copy.parent).stdout
    assert f"problem: {problem}\n  what to do: install torch 2.12.1, or " in text
    assert not report["loaded"]


def test_a_library_is_missing(copy):
    (copy / "lib/libopenreg.so").unlink()
    report = report_of(copy.parent, status=1)
    assert problems(report) == [
        f"libopenreg.so is missing: {copy / 'lib/libopenreg.so'}"
    ]
    assert "libopenreg.so: cannot open shared object file" in report["error"]


def test_a_library_is_damaged(copy):
    (copy / "lib/libtorch_bindings.so").write_bytes(b"no library")
    report = report_of(copy.parent, status=1)
    (problem,) = problems(report)
    assert problem.startswith("it does not load: ImportError: ")
    assert "libtorch_bindings.so" in problem


@pytest.mark.smoke
def test_the_extension_was_built_by_another_python(copy):
    (extension,) = copy.glob("_C.*.so")
    extension.rename(copy / "_C.cpython-39-x86_64-linux-gnu.so")
    (problem,) = problems(report_of(copy.parent, status=1))
    assert extension.name in problem and "another Python may have built it" in problem


def test_a_folder_of_sources(copy):
    (copy / "_build_info.py").unlink()
    report = report_of(copy.parent, status=1)
    assert problems(report) == [
        "_build_info.py is missing: this is a folder of sources"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('TORCH_VERSION = "2.1', "SyntaxError: unterminated string literal"),
        ("\0", "source code string cannot contain null bytes"),
        ("", "it has no TORCH_VERSION"),
        ("TORCH_VERSION = 2.13\n", "it has no TORCH_VERSION"),
    ],
)
def test_the_file_of_the_build_is_damaged(copy, text, reason):
    (copy / "_build_info.py").write_text(text)
    (problem,) = problems(report_of(copy.parent, status=1))
    assert problem.startswith(f"{copy / '_build_info.py'} is damaged: ")
    assert reason.lower() in problem.lower()


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("text", ["", "__version__ = '9.9", "raise OSError"])
def test_the_version_of_torch_is_damaged(tmp_path, text, installed):
    package, metadata = tmp_path / "torch", tmp_path / "torch-9.9.0.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text("from torch.version import __version__\n")
    (package / "version.py").write_text(text)
    if installed:
        metadata.mkdir()
        (metadata / "METADATA").write_text("Name: torch\nVersion: 9.9.0\n")
    process = diagnose("--json", path=tmp_path)
    report = json.loads(process.stdout)
    first = problems(report)[0]
    assert first.startswith(f"{package / 'version.py'} is damaged: ")
    assert report["problems"][0]["remedy"].startswith("reinstall torch: pip install")
    assert not report["loaded"]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_the_output_may_lack_a_letter(encoding):
    shown = {"ascii": r"\xe9 \udcff", "utf-8": r"é \udcff"}[encoding]
    process = diagnose(TORCH_FOO="é \udcff", PYTHONIOENCODING=encoding)
    assert process.returncode == 0, process.stderr
    assert shown in process.stdout


def test_a_process_that_dies_is_told_by_its_signal(copy):
    load = copy / "_load.py"
    load.write_text(f"{load.read_text()}\nimport os\nos.abort()\n")
    (problem,) = problems(report_of(copy.parent, status=1))
    assert problem == "it does not load: the process ended with SIGABRT"


def test_a_signal_without_a_name_is_told_by_its_number(copy):
    load = copy / "_load.py"
    load.write_text(f"{load.read_text()}\nimport os\nos.kill(os.getpid(), 40)\n")
    (problem,) = problems(report_of(copy.parent, status=1))
    assert problem == "it does not load: the process ended with signal 40"


def test_loading_that_blocks_is_told_with_a_remedy(copy):
    (copy / "_load.py").write_text("import time\ntime.sleep(600)\n")
    process = diagnose("--json", "--timeout", "0.5", path=copy.parent)
    assert process.returncode == 1, process.stderr
    report = json.loads(process.stdout)
    (problem,) = problems(report)
    assert problem == "it does not load: the process does not end after 0.5 s"
    assert "see where it waits" in report["problems"][0]["remedy"]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "soon"])
def test_a_time_limit_is_a_number_of_seconds(seconds):
    process = diagnose("--timeout", seconds)
    assert process.returncode == 2
    assert f"expected a number of seconds above 0, got {seconds}" in process.stderr


def test_what_a_library_prints_is_not_the_report(copy):
    load = copy / "_load.py"
    noise = "import os\nos.write(1, b'{starting}\\n\\xff {no end')\n"
    load.write_text(noise + load.read_text())
    assert report_of(copy.parent)["loaded"]


def test_two_backends_want_the_device(tmp_path):
    """``torch_foo`` of the autoload chapter, as if pip had installed it."""
    source = Path(__file__).parents[1] / "autoload/torch_foo/torch_foo"
    shutil.copytree(source, tmp_path / "torch_foo")
    metadata = tmp_path / "torch_foo-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: torch_foo\nVersion: 1.0\n")
    entry = "[torch.backends]\ntorch_foo = torch_foo:_autoload\n"
    (metadata / "entry_points.txt").write_text(entry)
    report = report_of(tmp_path, status=1)
    (problem,) = problems(report)
    assert problem.startswith("other packages also load backends")
    assert "has already been set! Current backend: foo" in report["error"]


# -- Where Python starts it, and what it imports --

BROKEN = "raise ImportError('torch_openreg does not load')\n"


@pytest.fixture
def broken(copy):
    """PYTHONPATH of a package that raises as soon as anything imports it."""
    (copy / "__init__.py").write_text(BROKEN)
    return copy.parent


@pytest.mark.parametrize(
    "options",
    [
        ["-m", "torch_openreg_diagnose"],
        ["-X", "dev", "-W", "ignore", "-m", "torch_openreg_diagnose"],
        ["-c", "import torch_openreg_diagnose as d; raise SystemExit(d.main())"],
        ["-c", "import runpy; runpy.run_module('torch_openreg_diagnose')"],
    ],
    ids=" ".join,
)
def test_a_package_that_does_not_load_is_diagnosed_however_python_starts(
    options, broken
):
    process = subprocess.run(
        [sys.executable, "-P", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(broken)},
    )
    assert process.returncode == 1, process.stderr
    problem = "it does not load: ImportError: torch_openreg does not load"
    assert f"problem: {problem}\n" in process.stdout


@pytest.mark.smoke
def test_an_isolated_python_diagnoses_what_it_can_import(broken):
    """With -I the variable PYTHONPATH has no effect, in either of the processes."""
    process = subprocess.run(
        [sys.executable, "-Im", "torch_openreg_diagnose", "--json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(broken)},
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert json.loads(process.stdout)["loaded"]


@pytest.mark.smoke
def test_nothing_is_installed(tmp_path):
    """The diagnosis alone, in a Python without site-packages."""
    source = Path(torch_openreg_diagnose.__file__).parent
    shutil.copytree(source, tmp_path / "torch_openreg_diagnose")
    process = subprocess.run(
        [sys.executable, "-S", "-P", "-m", "torch_openreg_diagnose", "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert process.returncode == 1, process.stderr
    report = json.loads(process.stdout)
    missing = ["torch is not installed", "torch_openreg is not installed"]
    assert problems(report)[:2] == missing
    assert report["error"] == "ModuleNotFoundError: No module named 'torch'"

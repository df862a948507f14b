# How torch loads backends, in every import order; see docs/frontend/autoload.md.
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch_openreg
from patience import PATIENCE
from torch_openreg import _version_guard
from torch_release import has_changed

ROOT = Path(__file__).parents[3]
CHAPTER = ROOT / "docs" / "frontend" / "import-orders.md"
EXAMPLES = Path(__file__).parents[1] / "autoload"
FAILED = (
    "RuntimeError: Failed to load the backend extension: {}. You can disable "
    "extension auto-loading with TORCH_DEVICE_BACKEND_AUTOLOAD=0."
)
# The module of each package that imports torch.
MODULES = {
    "torch_openreg": "torch_openreg",
    "flag_backend": "flag_backend.torch",
    "env_backend": "env_backend",
    "restoring_backend": "restoring_backend",
    "naive_backend": "naive_backend",
}


@pytest.fixture(autouse=True)
def _only_installed_packages_count(monkeypatch):
    """Python would also find the metadata of a build in the current folder."""
    monkeypatch.setenv("PYTHONSAFEPATH", "1")


def installed(*packages: str) -> str:
    """PYTHONPATH with which these example packages count as installed."""
    return os.pathsep.join(str(EXAMPLES / package) for package in packages)


def errors(process: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of stderr that name an exception, the cause first."""
    return [line for line in process.stderr.splitlines() if "Error: " in line]


# -- Import orders --


def rows_of_the_chapter() -> dict[str, list[str]]:
    """Cells of the table of import orders, by package."""
    lines = CHAPTER.read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {row[0].strip("`"): row[1:] for row in rows if row and len(row) == 5}


@pytest.fixture(scope="module")
def table() -> dict[str, list[str]]:
    rows = rows_of_the_chapter()
    assert set(MODULES) < set(rows), f"{CHAPTER} has no table of import orders"
    return rows


@pytest.mark.smoke
def test_torch_first(run_python, table):
    """All hooks run, one after the other, although each package works differently."""
    program = f"""
        import torch, sys
        print([name for name, module in {MODULES}.items() if module in sys.modules])
        print(torch.tensor(1, device="openreg"))
    """
    process = run_python(program, PYTHONPATH=installed(*list(MODULES)[1:]))
    assert process.stderr == ""
    *_, loaded, tensor = process.stdout.splitlines()
    assert loaded == str([name for name in MODULES if table[name][0] == "loaded"])
    assert loaded == str(list(MODULES))
    assert tensor == "tensor(1, device='openreg:0')"


@pytest.mark.smoke
@pytest.mark.parametrize("package", MODULES)
def test_backend_first(package, run_python, table):
    module = MODULES[package]
    other = "flag_backend" if package == "torch_openreg" else "torch_openreg"
    program = f"""
        import subprocess, sys
        import {module}
        import torch
        def show(*loaded):
            print(*("loaded" if it else "missing" for it in loaded), flush=True)
        show({module!r} in sys.modules)
        child = "import torch, sys; sys.exit({module!r} not in sys.modules)"
        show(subprocess.run([sys.executable, "-c", child]).returncode == 0)
        show({MODULES[other]!r} in sys.modules)
    """
    examples = {package, other} - {"torch_openreg"}
    process = run_python(program, PYTHONPATH=installed(*examples))
    words = [line for line in process.stdout.splitlines() if " " not in line]
    if process.returncode:
        cause, error = errors(process)
        assert "partially initialized module 'naive_backend'" in cause
        assert error == FAILED.format("naive_backend")
        words = ["RuntimeError", "-", "-"]
    assert words == table[package][1:]


def test_submodule_first_and_children(tmp_path, run_python):
    """torch_openreg works in spawned and in forked processes."""
    script = tmp_path / "children.py"
    script.write_text(
        "import multiprocessing, os\n"
        "import torch_openreg.openreg\n"
        "import torch\n"
        "def work():\n"
        "    print((torch.ones(2, device='openreg') + 1).tolist(), flush=True)\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn'):\n"
        "        child = multiprocessing.get_context(method).Process(target=work)\n"
        "        child.start(); child.join(300)\n"
        "        print(method, child.exitcode, flush=True)\n"
        "    work()\n"
    )
    program = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    process = run_python(program)
    lines = ["[2.0, 2.0]", "fork 0", "[2.0, 2.0]", "spawn 0", "[2.0, 2.0]"]
    assert process.stdout.splitlines() == lines, process.stderr


def test_calling_the_hook_again_is_harmless():
    torch_openreg._autoload()
    torch._import_device_backends()
    assert torch.openreg is torch_openreg.openreg
    assert torch.ones(1, device="openreg").device.type == "openreg"


# -- The switch --


@pytest.mark.parametrize(
    ("value", "enabled"),
    [(None, True), ("1", True), ("0", False), ("true", False), ("", False)],
)
def test_only_1_is_on(value, enabled, monkeypatch):
    name = "TORCH_DEVICE_BACKEND_AUTOLOAD"
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    assert torch._is_device_backend_autoload_enabled() is enabled


def test_switched_off_the_backend_can_be_imported_and_is_light(run_python):
    program = """
        import os, sys, torch
        try:
            torch.ones(1, device="openreg")
        except RuntimeError as error:
            print(error)
        before, threads = set(sys.modules), os.listdir("/proc/self/task")
        import torch_openreg
        print(torch.openreg.is_initialized())
        print(os.listdir("/proc/self/task") == threads)
        added = set(sys.modules) - before - {"torch.openreg"}
        print(torch.tensor(1, device="openreg"))
        print([name for name in sorted(added) if not name.startswith("torch_openreg")])
        print("torch._dynamo" in sys.modules, "torch._inductor" in sys.modules)
    """
    process = run_python(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    error, initialized, same_threads, tensor, added, heavy = process.stdout.splitlines()
    assert error.startswith("Expected one of cpu, cuda,")
    assert error.endswith("device type at start of device string: openreg")
    assert tensor == "tensor(1, device='openreg:0')"
    assert (initialized, same_threads) == ("False", "True")
    # Whatever else the package imports costs every program that imports torch.
    assert added == "[]"
    assert heavy == "False False"


def test_backends_add_little_to_the_time_of_import_torch():
    script = runpy.run_path(str(ROOT / "openreg" / "benchmarks" / "import_time.py"))
    _, torch_cpu, _, backends_cpu, _, dynamo_cpu = script["run_child"]("0")
    assert backends_cpu < torch_cpu / 10
    assert backends_cpu < dynamo_cpu / 10


# -- Examples of the chapter --


def test_foo_installs_and_loads(tmp_path, run_python):
    source, site = tmp_path / "source", tmp_path / "site"
    shutil.copytree(EXAMPLES / "torch_foo", source)
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--quiet", "--target", site, source]
    subprocess.run(command, check=True, timeout=PATIENCE)
    path = os.pathsep.join([str(site), installed("without_openreg")])
    program = """
        import torch
        print(torch.foo.is_available(), torch.device("foo", 0))
        print(hasattr(torch, "openreg"))
    """
    process = run_python(program, PYTHONPATH=path)
    assert process.stdout.splitlines() == [
        "Check things are working with `torch.foo.is_available()`.",
        "True foo:0",
        "False",
    ], process.stderr
    # Two backends that want PrivateUse1: the second one fails, and torch with it.
    cause, error = errors(run_python("import torch", PYTHONPATH=str(site)))
    assert cause == (
        "RuntimeError: torch.register_privateuse1_backend() has already been set! "
        "Current backend: foo"
    )
    assert error == FAILED.format("torch_openreg")


def test_a_broken_backend_breaks_torch_until_it_is_switched_off(run_python):
    path = installed("broken_backend")
    program = """
        try:
            import torch
        except RuntimeError as error:
            print(repr(error.__cause__))
        import torch
    """
    process = run_python(program, PYTHONPATH=path)
    assert process.stdout.startswith("OSError('libbroken_driver.so: cannot open shared")
    # A second attempt in the same process fails too, and hides the reason.
    hidden = "Only a single TORCH_LIBRARY can be used"
    if has_changed("a second import of torch has its own error"):
        hidden = "`torch` can only be initialized once per process"
    assert hidden in errors(process)[-1]
    program = "import torch, torch_openreg; print(torch.ones(1, device='openreg'))"
    remedy = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    process = run_python(program, PYTHONPATH=path, **remedy)
    assert process.stdout == "tensor([1.], device='openreg:0')\n", process.stderr


def test_a_careful_backend_warns_and_leaves_torch_usable(run_python):
    program = "import torch; print(torch.ones(1, device='openreg'))"
    process = run_python(program, PYTHONPATH=installed("careful_backend"))
    assert process.stdout == "tensor([1.], device='openreg:0')\n", process.stderr
    assert "UserWarning: careful_backend has no device: libbroken" in process.stderr


# -- Registrations that fail --


@pytest.mark.smoke
def test_another_owner_of_the_hooks_is_an_import_error(compile_cpp, run_python):
    library = str(compile_cpp("other_owner", backend=False))
    program = f"""
        import ctypes
        import torch
        ctypes.CDLL({library!r})
        import torch_openreg
    """
    process = run_python(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert process.returncode == 1, process.stderr  # not a signal
    assert errors(process)[-1].startswith(
        "ImportError: openreg: cannot register the hooks with torch: "
    )


# -- The version guard --


@pytest.mark.smoke
@pytest.mark.parametrize("running", ["2.13.0", "2.13.1+cpu", "2.13.0a0+git1234"])
def test_the_same_minor_release_is_accepted(running):
    _version_guard.check(running, "2.13.0+cpu")


@pytest.mark.parametrize("running", ["2.15.0", "2.12.1+cpu", "3.13.0"])
def test_another_release_is_refused(running):
    with pytest.raises(ImportError) as caught:
        _version_guard.check(running, "2.13.0+cpu")
    assert str(caught.value) == (
        f"torch_openreg was built for torch 2.13.0+cpu, but torch {running} is "
        "imported. Install torch 2.13.0, or rebuild torch_openreg: "
        "pip install --no-build-isolation --force-reinstall --no-deps ."
    )


def test_a_build_for_another_torch_says_so_when_torch_is_imported(tmp_path, run_python):
    package = tmp_path / "torch_openreg"
    package.mkdir()
    for name in ("_init__", "driver", "glue", "load", "version_guard"):
        shutil.copy(ROOT / f"openreg/torch_openreg/_{name}.py", package)
    (package / "_build_info.py").write_text('TORCH_VERSION = "2.12.1+cpu"\n')
    process = run_python("import torch", PYTHONPATH=str(tmp_path))
    cause, error = errors(process)
    assert cause.startswith("ImportError: torch_openreg was built for torch 2.12.1+cpu")
    assert error == FAILED.format("torch_openreg")


# -- Building while a broken older version is installed --


def cmake_query(tmp_path, *more, **env):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(query LANGUAGES C)\n"
        f"list(APPEND CMAKE_MODULE_PATH {ROOT / 'cmake'})\n"
        "include(FindInstalledTorch)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    command += [f"-DPython_EXECUTABLE={sys.executable}", *more]
    env = {**os.environ, **env}
    env.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_the_cmake_query_does_not_load_installed_backends(tmp_path):
    process = cmake_query(tmp_path, PYTHONPATH=installed("broken_backend"))
    assert process.returncode == 0, process.stderr
    assert f"-- torch {torch.__version__} in " in process.stdout


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("-DOPENREG_TORCH_FROM=2.99", "is too old: install torch 2.99 or newer."),
        ("-DOPENREG_TORCH_BELOW=2.13", "is newer than this backend: it is tested with"),
    ],
)
def test_a_release_that_is_not_tested_is_refused(tmp_path, limit, expected):
    process = cmake_query(tmp_path, limit)
    assert process.returncode != 0
    message = " ".join(process.stderr.split())
    assert f"torch {torch.__version__} {expected}" in message


def test_the_cmake_query_reads_a_torch_that_cannot_run_here(tmp_path):
    """Such as one for another processor, in a cross build."""
    torch_of_the_target = tmp_path / "site/torch"
    torch_of_the_target.mkdir(parents=True)
    (torch_of_the_target / "__init__.py").write_text("raise ImportError('never')")
    (torch_of_the_target / "version.py").write_text("__version__ = '2.14.1'")
    process = cmake_query(tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert process.returncode == 0, process.stderr
    assert f"-- torch 2.14.1 in {torch_of_the_target}\n" in process.stdout


# -- Tools that look into every module --


def test_the_compiler_and_its_scan_of_modules(run_python):
    program = """
        import inspect, sys, torch
        import torch._dynamo
        for name, module in list(sys.modules.items()):
            if name.startswith("torch_openreg"):
                assert inspect.getmodule(module) is module, name
                for attribute, value in inspect.getmembers(module):
                    inspect.getmodule(value)
                assert not hasattr(module, "no_such_name"), name
        assert inspect.getmodule(torch.openreg.synchronize) is torch.openreg
        x = torch.ones(2, device="openreg")
        print(torch.compile(lambda x: x + 1, backend="eager")(x))
    """
    process = run_python(program)
    assert process.stdout == "tensor([2., 2.], device='openreg:0')\n", process.stderr

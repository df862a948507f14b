# Both ways to install the package; see docs/start/install.md.
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "openreg" / "torch_openreg"
PROGRAM = """
import torch_openreg, torch
print(torch_openreg.__file__)
print((torch.ones(2, device="openreg") + 1).tolist())
"""


@pytest.fixture
def empty_environment(tmp_path: Path) -> Path:
    """The Python of a new environment that borrows everything but our package."""
    home = tmp_path / "environment"
    command = [sys.executable, "-m", "venv", "--without-pip", str(home)]
    subprocess.run(command, check=True)
    packages = next((home / "lib").glob("python*/site-packages"))
    for path in Path(sysconfig.get_path("platlib")).iterdir():
        if not path.name.startswith(("torch_openreg", "__editable__", "_editable")):
            (packages / path.name).symlink_to(path)
    return home / "bin" / "python"


def install(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "install", "--no-build-isolation"]
    command += ["--no-deps", "--no-index", "--ignore-installed", "--quiet", *arguments]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr


def run(python: Path, cwd: Path) -> list[str]:
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        [str(python), "-c", PROGRAM], capture_output=True, text=True, cwd=cwd, env=env
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


@pytest.mark.xdist_group("install")  # both write to the same build folder
def test_pip_install(empty_environment, tmp_path):
    install(empty_environment, ".")
    where, values = run(empty_environment, tmp_path)
    assert str(empty_environment.parents[1]) in where
    assert values == "[2.0, 2.0]"
    package = Path(where).parent
    libraries = sorted(path.name for path in package.glob("lib/*.so"))
    assert libraries == ["libopenreg.so", "libtorch_bindings.so", "libtorch_openreg.so"]
    assert list(package.glob("_C.*.so"))
    # Custom operators are built against it: see docs/operators/custom.md.
    assert (package / "include/csrc/kernels/cpu/Launch.h").is_file()
    targets = (package / "share/cmake/torch_openreg/targets-release.cmake").read_text()
    assert "${_IMPORT_PREFIX}/lib/libtorch_openreg.so" in targets  # can be moved


@pytest.mark.xdist_group("install")
def test_pip_install_editable(empty_environment, tmp_path):
    before = {path for path in PACKAGE.rglob("*") if path.is_file()}
    try:
        install(empty_environment, "-e", ".")
        where, values = run(empty_environment, tmp_path)
    finally:
        for path in sorted(set(PACKAGE.rglob("*")) - before, reverse=True):
            if path.is_file():
                path.unlink()
            elif not any(path.iterdir()):
                path.rmdir()
    assert Path(where) == PACKAGE / "__init__.py"
    assert values == "[2.0, 2.0]"


FOLDER = """
import os, subprocess, sys, setuptools
setuptools.setup = lambda **options: None
subprocess.run = lambda command, **options: commands.append(command)
commands = []
path = os.path.abspath("setup.py")
names = {"__name__": "setup", "__file__": path}
exec(compile(open(path).read(), path, "exec"), names)
builder = names["CMakeBuild"](setuptools.Distribution())
builder.build_lib, builder.inplace = "lib", False
builder.run()
print(commands[0][commands[0].index("-B") + 1])
"""


@pytest.mark.parametrize("source", ["setup.py", "openreg/starter/setup.py"])
def test_a_copied_folder_is_not_built_where_the_original_was(source, tmp_path):
    """CMake refuses a build folder that was copied with the sources."""
    names = set()
    for place in ("first", "second"):
        folder = tmp_path / place
        folder.mkdir()
        shutil.copy(ROOT / source, folder)
        command = [sys.executable, "-c", FOLDER]
        printed = subprocess.check_output(command, cwd=folder, text=True)
        build = Path(printed.strip())
        assert build.parent == folder / "build"
        names.add(build.name)
    assert len(names) == 2


def test_the_driver_is_installed_without_the_backend(tmp_path):
    driver = ROOT / "openreg/third_party/openreg"
    command = ["cmake", "-G", "Ninja", "-S", str(driver), "-B", str(tmp_path)]
    command += ["-DOPENREG_BUILD_TESTS=OFF"]
    subprocess.run(command, check=True, capture_output=True)
    rules = (tmp_path / "cmake_install.cmake").read_text()
    names = ["libopenreg.so", *(path.name for path in driver.glob("include/*.h"))]
    assert len(names) == 6 and all(f"/{name}" in rules for name in names)

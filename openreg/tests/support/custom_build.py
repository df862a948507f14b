# Builds the custom operators of the guide, once; see docs/operators/custom.md.
"""What a user of the package does, kept in ``build`` under a hash of its sources."""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
import torch_openreg.utils
from patience import PATIENCE

TESTS = Path(__file__).resolve().parents[1]
SOFTCAP = TESTS / "custom" / "softcap"
STABLE = TESTS / "custom" / "softcap_stable.cpp"
TILED = TESTS / "custom" / "tiled.cpp"
BUILT = TESTS.parents[1] / "build" / "tests-custom"
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
# A user's compiler may be newer, and find more to warn about: see CMakeLists.txt.
STRICT = ["-Werror"] * ("OPENREG_WERROR=ON" in os.environ.get("CMAKE_ARGS", ""))


def install_softcap() -> Path:
    """Install the package with pip; return the folder to import it from."""
    sources = [path for path in SOFTCAP.rglob("*") if path.suffix != ".pyc"]
    return _once("softcap", sources, _pip_install)


def _pip_install(site: Path) -> None:
    source = site.with_suffix(".source")  # pip builds in the folder of the sources
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(SOFTCAP, source, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--quiet", "--target", site, source]
    _run(command)
    shutil.rmtree(source)


def compile_stable(source: Path = STABLE) -> Path:
    """Compile the operator on the stable ABI, once; return the library."""
    return _once(
        "softcap_stable.so", [source], lambda path: compile_stable_into(path, source)
    )


def compile_stable_into(library: Path, source: Path = STABLE) -> None:
    """Compile the operator on the stable ABI into a library."""
    _compile(source, library, ["-DTORCH_TARGET_VERSION=0x020d000000000000"])


def compile_tiled() -> Path:
    """Compile the tensor without storage; return the library."""
    flags = ["-lc10", "-ltorch_openreg"]
    return _once("tiled.so", [TILED], lambda path: _compile(TILED, path, flags))


def compile_with_c10(name: str) -> Path:
    """Compile a file of the folder custom that needs no more; return the library."""
    source = TESTS / "custom" / f"{name}.cpp"
    return _once(f"{name}.so", [source], lambda path: _compile(source, path, ["-lc10"]))


def _compile(source: Path, library: Path, flags: list[str]) -> None:
    torch_folder = Path(torch.__file__).resolve().parent
    command = [*COMPILER, "-std=c++20", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra"]
    command += STRICT
    command += [f"-isystem{torch_folder / 'include'}", f"-L{torch_folder / 'lib'}"]
    command += [f"-I{path}" for path in torch_openreg.utils.include_paths()]
    command += [f"-L{path}" for path in torch_openreg.utils.library_paths()]
    _run([*command, source, "-o", library, "-ltorch_cpu", "-lopenreg", *flags])


def _run(command: list[str | Path]) -> None:
    process = subprocess.run(
        command, capture_output=True, text=True, timeout=2 * PATIENCE
    )
    assert process.returncode == 0, process.stdout + process.stderr


def _once(name: str, sources: Iterable[Path], build: Callable[[Path], None]) -> Path:
    """Return the path that ``build`` fills; processes that want it too wait."""
    package = Path(torch_openreg.__file__).parent
    headers = Path(torch_openreg.utils.include_paths()[0]).rglob("*.h")
    cmake = Path(torch_openreg.utils.cmake_prefix_path).rglob("*.cmake")
    parts = [torch.__version__, str(package), os.environ.get("CXXFLAGS", "")]
    for path in sorted((*sources, *headers, *cmake)):
        if path.is_file():
            parts += [path.name, path.read_text()]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    BUILT.mkdir(parents=True, exist_ok=True)
    result = BUILT / f"{digest}-{name}"
    with (BUILT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not result.exists():
            part = BUILT / f"part-{name}"
            shutil.rmtree(part, ignore_errors=True)  # of a build that was interrupted
            build(part)
            part.rename(result)
    return result

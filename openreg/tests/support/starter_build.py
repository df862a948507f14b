# Builds the starter once, and runs programs on it; see docs/start/first-backend.md.
"""What a vendor does with the starter, kept in ``build`` under a hash of its sources.

Its driver is the one of the installed torch_openreg, which compiles nothing for that.
``torch_openreg`` itself is hidden: a process can load only one PrivateUse1 backend.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

from patience import PATIENCE

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS.parent))
from cloning.build import HIDDEN as HIDDEN  # noqa: E402
from cloning.build import pip_install, python_path  # noqa: E402

STARTER = TESTS.parent / "starter"
BUILT = TESTS.parents[1] / "build" / "tests-starter"
TRAIN = STARTER / "examples" / "train.py"
MARKER = re.compile(r"\s*(?://|#) LITERALINCLUDE (START|END): (\w+)")


def package_of(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(name)
    assert spec and spec.submodule_search_locations, f"{name} is not installed"
    return Path(spec.submodule_search_locations[0])


def sources(folder: Path = STARTER) -> list[Path]:
    """The files of the starter, without what a build or Python left there."""
    generated = {"build", "__pycache__"}
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not generated & set(path.relative_to(folder).parts)
    )


def code_lines(path: Path) -> int:
    """Lines of a file that are neither blank nor a marker of a snippet."""
    lines = path.read_text().splitlines()
    return sum(bool(line.strip()) and not MARKER.match(line) for line in lines)


def install_starter(*kernels: Path) -> Path:
    """Install the package with pip; return the folder to import it from.

    Args:
        kernels: files that a vendor adds to its folder ``csrc/kernels``.
    """
    files = {path.relative_to(STARTER): path for path in sources()}
    files |= {Path("csrc/kernels", path.name): path for path in kernels}
    driver = package_of("torch_openreg")
    digest = hashlib.sha256(f"{sys.version}{package_of('torch')}".encode())
    digest.update((driver / "include/openreg.h").read_bytes())
    digest.update((driver / "lib/libopenreg.so").read_bytes())
    for name, path in files.items():
        digest.update(f"\0{name}\0".encode() + path.read_bytes())
    BUILT.mkdir(parents=True, exist_ok=True)
    site = BUILT / f"site-{digest.hexdigest()[:16]}"
    with (BUILT / "lock").open("w") as lock:  # processes that want it wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not site.exists():
            _pip_install(site, driver, files)
    return site


def _pip_install(site: Path, driver: Path, files: dict[Path, Path]) -> None:
    source, made = BUILT / "source", site.with_suffix(".part")
    for name, path in files.items():  # over the last ones: CMake compiles what changed
        copy = source / name
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    for path in sources(source):
        if path.relative_to(source) not in files:
            path.unlink()
    shutil.rmtree(made, ignore_errors=True)
    arguments = f"{os.environ.get('CMAKE_ARGS', '')} -DDRIVER_ROOT={driver}"
    run_quietly([sys.executable, *pip_install(source, made)], CMAKE_ARGS=arguments)
    made.rename(site)


def run_quietly(command: list[str], **env: str) -> None:
    """Run a command; raise AssertionError with what it printed if it fails."""
    process = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **env}
    )
    assert process.returncode == 0, process.stdout + process.stderr


def environment(site: Path, **env: str) -> dict[str, str]:
    """The environment of a program that imports torch and gets the starter."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    inherited.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)
    ours = {"PYTHONPATH": python_path(site), "PYTHONFAULTHANDLER": "1"}
    return {**inherited, **ours, **env}


def run_on_starter(
    site: Path, program: str | Path, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a program, or the file of one, in a new interpreter."""
    where = [str(program)]
    if isinstance(program, str):
        where = ["-c", textwrap.dedent(program)]
    return subprocess.run(
        [sys.executable, *where, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(site, **env),
        cwd=site,
    )

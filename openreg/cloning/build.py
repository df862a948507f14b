# Builds a copy and runs its tests; see docs/ship/make-it-yours.md.
"""Nothing is installed in the environment: pip writes below the folder of the copy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Hides torch_openreg, if it is installed: a process can load only one backend.
HIDDEN = Path(__file__).resolve().parents[1] / "tests/autoload/without_openreg"


def pip_install(source: Path, site: Path) -> list[str]:
    """The arguments of Python that install a package into a folder, offline."""
    command = ["-m", "pip", "install", "--no-build-isolation", "--no-deps"]
    return [*command, "--no-index", "--target", str(site), str(source)]


def python_path(site: Path, more: str = "") -> str:
    """PYTHONPATH for a program that gets the package of a folder, and no other one."""
    return os.pathsep.join(filter(None, [str(site), str(HIDDEN), more]))


def build_and_test(copy: Path) -> str:
    """Build a copy and run its tests; return the last line of pytest.

    Args:
        copy: its folder. What the build makes is in the folder build below it.

    Raises:
        RuntimeError: the build or a test failed.
    """
    copy = copy.resolve()
    build = copy / "build"
    site = build / "site"
    build.mkdir(exist_ok=True)
    _run("build", pip_install(copy, site), build, {})
    env = {"PYTHONPATH": python_path(site, os.environ.get("PYTHONPATH", ""))}
    command = ["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return _run("tests", command, build, env).splitlines()[-1]


def _run(what: str, command: list[str], build: Path, env: dict[str, str]) -> str:
    """Run Python in the folder of the copy; return and keep what it printed."""
    inherited = {**os.environ}
    inherited.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)
    log = build / f"{what}.log"
    with log.open("w") as output:
        status = subprocess.run(
            [sys.executable, *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**inherited, **env},
            cwd=build.parent,
        ).returncode
    if status != 0:
        raise RuntimeError(f"the {what} failed, see {log}")
    return log.read_text(encoding="utf-8", errors="replace")

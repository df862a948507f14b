# Uses a wheel in an environment with torch only; see docs/ship/check-wheels.md.
"""python openreg/try_wheel.py dist/torch_acme-*.whl 'import torch; torch.acme.init()'

Makes a new environment in a temporary folder. It has torch and what torch needs, as
links to the packages of this Python, so nothing is downloaded. pip installs the wheel
and compares what it requires with the versions that are there. The program runs in an
empty folder; the exit status is that of the program, or of pip.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

NAME = re.compile(r"[\w.-]+")
# Variables that would let the program or pip find more than the environment has.
LEFT_OUT = re.compile(r"PYTHONPATH|PYTHONHOME|TORCH_DEVICE_BACKEND_AUTOLOAD|PIP_\w+")


def with_requirements(name: str) -> dict[str, Distribution]:
    """Return an installed package and all that it requires, by name."""
    found: dict[str, Distribution] = {}
    wanted = [name]
    while wanted:
        package = wanted.pop()
        if package in found:
            continue
        try:
            found[package] = distribution(package)
        except PackageNotFoundError:
            if package == name:
                sys.exit(f"try_wheel: install {name}, which the wheel is built for")
            continue  # for another system or Python
        for line in found[package].requires or []:
            if "extra ==" not in line and (match := NAME.match(line)):
                wanted.append(match[0])
    return found


def link(package: Distribution, site: Path) -> None:
    """Let a folder of packages also have an installed package."""
    tops = {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}
    for top in tops:
        if not (site / top).exists():  # several packages may share a folder
            (site / top).symlink_to(Path(str(package.locate_file(top))).resolve())


# LITERALINCLUDE START: TRY_WHEEL
def try_wheel(wheel: Path, program: str, folder: Path) -> int:
    """Install a wheel in an environment that has only torch, and run a program."""
    venv.create(folder / "env", symlinks=True)  # without pip
    python = folder / "env/bin/python"
    (site,) = (folder / "env").glob("lib/python3*/site-packages")
    for package in with_requirements("torch").values():
        link(package, site)
    empty = folder / "empty"
    empty.mkdir()
    env = {k: v for k, v in os.environ.items() if not LEFT_OUT.fullmatch(k)}
    env["PIP_CONFIG_FILE"] = os.devnull  # it may name folders with wheels
    install = ["-m", "pip", "--python", str(python), "install", "--no-index"]  # (1)
    commands = [
        [sys.executable, *install, "--quiet", str(wheel.resolve())],
        [str(python), "-c", program],
    ]
    for command in commands:
        status = subprocess.run(command, cwd=empty, env=env).returncode
        if status != 0:
            return status
    return 0


# LITERALINCLUDE END: TRY_WHEEL
def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path, help="wheel to install")
    parser.add_argument("program", help="Python code to run with the wheel")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return try_wheel(options.wheel, options.program, Path(folder))


if __name__ == "__main__":
    sys.exit(main())

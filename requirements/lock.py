"""Resolves one list of requirements and writes its lock; `nox -s lock` runs it.

python requirements/lock.py NAME    reads NAME.in, writes NAME.txt
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
# torch itself pins the packages of its CUDA build, which not every build needs.
OF_TORCH = ("nvidia-", "cuda-", "triton")


def oldest_python() -> str:
    """To its last digit: Debian 12 has 3.11.2, and some packages need 3.11.5."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]
    return str(project["requires-python"]).removeprefix(">=") + ".0"


def resolve(source: Path) -> list[dict[str, Any]]:
    """What pip would install today into an empty environment of the oldest Python."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet"]
    command += ["--ignore-installed", "--report", "-", "-r", str(source)]
    command += ["--python-version", oldest_python(), "--only-binary=:all:"]
    command += ["--target", "unused"]  # pip wants one for another Python
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    installed: list[dict[str, Any]] = json.loads(answer.stdout)["install"]
    return installed


def lock(name: str, source: str, packages: list[dict[str, Any]]) -> str:
    """The text of the lock file: every package but torch, which has its own file.

    An environment that borrows torch has `-c torch.txt` in its list, and no torch.
    """
    found = [package["metadata"] for package in packages]
    pins = {re.sub(r"[-_.]+", "-", it["name"]).lower(): it["version"] for it in found}
    lines = [f"# What the `{name}` environment holds; written by: nox -s lock"]
    if "-r torch.txt" in source:
        lines.append("-r torch.txt")
    if pins.pop("torch", None):
        pins = {key: pins[key] for key in pins if not key.startswith(OF_TORCH)}
    lines += [f"{package}=={version}" for package, version in sorted(pins.items())]
    return "\n".join(lines) + "\n"


def main(name: str) -> None:
    source = FOLDER / f"{name}.in"
    text = lock(name, source.read_text(), resolve(source))
    (FOLDER / f"{name}.txt").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])

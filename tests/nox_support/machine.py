# What a machine needs for a build, and which Pythons it has; see CONTRIBUTING.md.
"""Refusals before any work is done, each with one line that says why."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nox

OLDEST_PYTHON = (3, 11)
NEWEST_PYTHON = (3, 13)  # the newest that the tests hold on
OLDEST_CMAKE = (3, 25)
ASK = (
    "import platform, sysconfig; from pathlib import Path; "
    "headers = Path(sysconfig.get_path('include'), 'Python.h').exists(); "
    "print('python', platform.python_version(), int(headers))"
)


def check_machine(session: nox.Session) -> None:
    """Refuse a machine that cannot build the backend."""
    if not sys.platform.startswith("linux"):
        session.error(f"OpenReg needs Linux; this is {sys.platform}")
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        session.error(
            f"OpenReg needs Python 3.11 or newer; nox runs on {found}. "
            "Run it with another one: python3.11 -m nox ..."
        )
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if not headers.exists():
        session.error(
            f"Python's headers are missing ({headers}). "
            "Install them (Debian, Ubuntu: apt-get install python3-dev)"
        )
    chosen = shlex.split(os.environ.get("CXX", ""))[:1]
    if not any(map(shutil.which, chosen or ("c++", "g++", "clang++"))):
        wanted = f"CXX={chosen[0]}" if chosen else "c++, g++ or clang++"
        session.error(
            f"There is no {wanted} on PATH to compile C++ with. "
            "Install a compiler (Debian, Ubuntu: apt-get install g++)"
        )
    check_cmake(session)


def check_cmake(session: nox.Session) -> None:
    wanted = ".".join(map(str, OLDEST_CMAKE))
    advice = f"Install CMake {wanted} or newer (Debian, Ubuntu: apt-get install cmake)"
    if shutil.which("cmake") is None:
        session.error(f"cmake is not on PATH. {advice}")
    answer = subprocess.run(["cmake", "--version"], capture_output=True, text=True)
    version = re.search(r"version (\d+)\.(\d+)", answer.stdout)
    if version is None:
        session.error(f"cmake is broken: cmake --version fails. {advice}")
    if tuple(map(int, version.groups())) < OLDEST_CMAKE:
        session.error(f"cmake is too old: {'.'.join(version.groups())}. {advice}")


# --- Another Python -------------------------------------------------------------------


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs, and can build the backend."""

    path: Path
    version: str  # such as "3.13.0"

    @property
    def minor(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")[:2]))


THIS = Interpreter(Path(sys.executable), ".".join(map(str, sys.version_info[:3])))


def folders_of_pythons() -> list[Path]:
    """PATH, and the versions of pyenv: its programs on PATH run only the chosen one."""
    folders = [Path(name) for name in os.get_exec_path() if name]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [*folders, *sorted(pyenv.glob("versions/*/bin"), reverse=True)]


def find_pythons(session: nox.Session) -> Iterator[Interpreter]:
    """Those from 3.11 on that run and have headers, the newest first, as on PATH."""
    found: list[tuple[int, Path]] = []
    for folder in folders_of_pythons():
        for path in folder.glob("python3.*"):
            match = re.fullmatch(r"python3\.(\d+)", path.name)
            if match and int(match[1]) >= OLDEST_PYTHON[1]:
                found.append((int(match[1]), path))
    for _, path in sorted(found, key=lambda it: -it[0]):  # stable: the order of PATH
        try:
            answer = subprocess.run([path, "-c", ASK], capture_output=True, text=True)
        except OSError:
            continue
        words = answer.stdout.split()
        if answer.returncode or words[:1] != ["python"]:
            continue  # such as a program of pyenv without a version behind it
        if words[2] == "0":
            session.log(f"{path} has no headers: left out")
            continue
        yield Interpreter(path, words[1])


def choose_python(session: nox.Session, wanted: str | None) -> Interpreter:
    """Return the Python `wanted`, such as "3.13", or the newest from 3.12 on."""
    if wanted is not None:
        for python in find_pythons(session):
            if python.version == wanted or python.version.startswith(f"{wanted}."):
                return python
        found = dict.fromkeys(python.version for python in find_pythons(session))
        session.error(
            f"There is no Python {wanted} with its headers on PATH, but "
            f"{', '.join(found) or 'no other'}. Install it, or pass another version"
        )
    for python in find_pythons(session):
        if OLDEST_PYTHON < python.minor <= NEWEST_PYTHON:
            session.log(f"Python {python.version}: {python.path}")
            return python
    session.warn(
        "NO SECOND PYTHON: THERE IS NO PYTHON 3.12 OR 3.13 WITH ITS HEADERS ON PATH. "
        f"This run takes Python {THIS.version}, the one of nox. Install another one to "
        "also test with it"
    )
    return THIS

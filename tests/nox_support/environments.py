# The environments of the sessions, and how they run programs; see CONTRIBUTING.md.
"""One environment a purpose, made again when its lock file changes."""

import contextlib
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nox
from nox.command import CommandFailed

from nox_support.machine import THIS, Interpreter, choose_python
from nox_support.quiet import printing
from nox_support.signals import explain

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements"
# What an editable installation puts into the package.
INSTALLED = ["openreg/torch_openreg/include", "openreg/torch_openreg/share"]
BUILDS = ("cuda", "cpu")  # of torch
BORROWS = {  # environments from others
    "docs": ["tests"],
    "clients": ["tests"],
    "coverage": ["docs", "tests"],
    "live": ["docs", "tests"],
    "triton": ["clients", "tests"],
    "serving": ["tests"],
}


@dataclass(frozen=True)
class Target:
    """What a session builds and tests for: a Python, and a build of torch."""

    python: Interpreter
    build: str | None = None  # None: the one that pip takes on this machine
    torch: str | None = None  # None: the release that requirements/torch.txt pins

    def named(self, name: str) -> str:
        """The name of an environment or a file of this target."""
        minor = ".".join(map(str, self.python.minor))
        what = self.build or self.torch
        return f"{name}-on-{what}-{minor}" if what else name


HERE = Target(THIS)


def chosen_target(session: nox.Session) -> tuple[Target, bool]:
    """What the arguments of tests-on ask for, and whether in the short form."""
    arguments = list(session.posargs)
    smoke = "smoke" in arguments
    builds = [word for word in arguments if word in BUILDS]
    releases = [word for word in arguments if re.fullmatch(r"2\.\d+\.\d+", word)]
    versions = [word for word in arguments if word.startswith("3.")]
    named = len(builds) + len(releases)
    if named != 1 or len(arguments) != smoke + 1 + len(versions) or versions[1:]:
        session.error(
            "tests-on takes a build of torch, cuda or cpu, or a release, such as "
            "2.15.0, and may take a Python, such as 3.13, and the word smoke, not "
            f"{arguments}"
        )
    if releases:
        python = choose_python(session, versions[0]) if versions else THIS
        return Target(python, torch=releases[0]), smoke
    python = choose_python(session, versions[0] if versions else None)
    return Target(python, builds[0]), smoke


def environment(session: nox.Session, name: str, target: Target = HERE) -> Path:
    """The directory of the tools that requirements/<name>.txt locks."""
    home = ROOT / ".nox" / target.named(name)
    lock_file = LOCKS / f"{name}.txt"
    key = fingerprint(
        [lock_file, LOCKS / "torch.txt"], str(home), target.python.version
    )
    if is_current(home / ".key", key):
        return home / "bin"
    with step(session, f"environment {home.name}"):
        tools = new_environment(session, home.name, target.python)
        # --no-compile: Python compiles what it imports; all of torch takes longer.
        options = ["--no-compile", "-r", str(lock_file)]
        if name in BORROWS:  # nothing that is borrowed, only what the lock names
            options.append("--no-deps")
        elif target.torch:
            install_release(session, tools, target.torch)
            options[-1] = str(lock_without_torch(home, lock_file))
        elif target.build:
            install_torch(session, tools, target.build)
        run(session, tools, "pip", "install", *options)
        lenders = [target.named(lender) for lender in BORROWS.get(name, [])]
        borrow(home, *(ROOT / ".nox" / lender for lender in lenders))
        (home / ".key").write_text(key)
    return tools


def new_environment(
    session: nox.Session, name: str, python: Interpreter = THIS
) -> Path:
    home = ROOT / ".nox" / name
    # virtualenv comes with nox; Debian's venv module is a separate package.
    virtualenv = [sys.executable, "-m", "virtualenv", "--clear", "--quiet"]
    virtualenv += ["--python", str(python.path)]
    virtualenv.append(str(home))
    with printing(session, *virtualenv) as options:
        session.run(*virtualenv, external=True, **options)
    return home / "bin"


def borrow(borrower: Path, *lenders: Path) -> None:
    """Lets an environment import what is in others: torch is too big to have twice.

    The lenders come last on sys.path, so what the borrower's own lock says wins.
    """
    for packages in borrower.glob("lib/python3.*/site-packages"):
        inside = packages.relative_to(borrower)
        lines = [f"{lender / inside}\n" for lender in lenders]
        if lines:
            (packages / "borrowed.pth").write_text("".join(lines))


def install_torch(session: nox.Session, tools: Path, build: str) -> None:
    """Installs this build of torch, and looks whether it is the one that came.

    The package index has the CUDA build. A machine may prefer another one, by a folder
    or a second index in its settings, so the first attempt ignores them. The second one
    is for machines that reach an index by their settings only.
    """
    attempts = [["--isolated"], []] if build == "cuda" else [[]]
    for options in attempts:
        command = ["install", "--no-compile", *options, "-r", str(LOCKS / "torch.txt")]
        run(session, tools, "pip", *command, success_codes=range(256))
        version, cuda = torch_of(session, tools)
        if version and cuda == (build == "cuda"):
            return
        if options:
            session.log("pip again, with the settings of this machine")
    advice = {
        "cuda": "an index that has it: set PIP_INDEX_URL, and unset PIP_FIND_LINKS and "
        "PIP_EXTRA_INDEX_URL",
        "cpu": "the CPU index that PyTorch's installation page names, by "
        "PIP_EXTRA_INDEX_URL",
    }
    found = f"installed torch {version}" if version else "found no torch"
    session.error(f"pip {found}, not the {build} build. Point pip to {advice[build]}")


def install_release(session: nox.Session, tools: Path, release: str) -> None:
    """Installs this release of torch, in whatever build the index has it.

    A machine may cap the release in its settings, so the second attempt ignores them.
    """
    for env in ({}, {"PIP_CONFIG_FILE": os.devnull}):
        command = ["pip", "install", "--no-compile", f"torch=={release}"]
        run(session, tools, *command, env=env, success_codes=range(256))
        version, _ = torch_of(session, tools)
        if version.split("+")[0] == release:
            return
        if not env:
            session.log("pip again, without the settings of this machine")
    found = f"installed torch {version}" if version else "found no torch"
    session.error(f"pip {found}, not {release}. Does the index have that release?")


def fetch_wheel(session: nox.Session, tools: Path, release: str) -> Path:
    """Downloads the wheel of a release of torch, without what it depends on."""
    folder = ROOT / "build" / "torch-wheels" / release
    for env in ({}, {"PIP_CONFIG_FILE": os.devnull}):  # see install_release()
        if not list(folder.glob("torch-*.whl")):
            command = ["pip", "download", "--no-deps", "-d", str(folder)]
            command.append(f"torch=={release}")
            run(session, tools, *command, env=env, success_codes=range(256))
    found = sorted(folder.glob("torch-*.whl"))
    if not found:
        session.error(f"pip found no wheel of torch {release}. Does the index have it?")
    return found[0]


def lock_without_torch(home: Path, lock_file: Path) -> Path:
    """Copies a lock without the line that pins torch, for an environment of another."""
    lines = lock_file.read_text().splitlines(keepends=True)
    path = home / lock_file.name
    path.write_text("".join(line for line in lines if not line.startswith("-r ")))
    return path


def torch_of(session: nox.Session, tools: Path) -> tuple[str, bool]:
    """Version of an environment's torch, or nothing; and whether it is a CUDA build."""
    ask = "from torch import version as v; print('torch', v.__version__, v.cuda)"
    answer = run(
        *(session, tools, "python", "-c", ask),
        env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        success_codes=range(256),
        silent=True,
    )
    words = answer.rpartition("torch ")[2].split() if "torch " in answer else []
    return (words[0], words[1] != "None") if len(words) == 2 else ("", False)


def run(session: nox.Session, tools: Path, *command: str, **options: Any) -> str:
    """Runs a command that finds the programs of an environment first.

    If a signal ends it, the session ends with a line that explains the signal.
    """
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    program = shutil.which(command[0], path=path) or command[0]
    env: dict[str, str | None] = {"PATH": path, "VIRTUAL_ENV": str(tools.parent)}
    env["PYTHONDONTWRITEBYTECODE"] = None  # see --no-compile in environment()
    env |= options.pop("env", {})
    options |= {"external": True, "env": env}
    try:
        with printing(session, *command, silent=options.get("silent", False)) as more:
            return str(session.run(program, *command[1:], **options, **more))
    except CommandFailed as failure:
        status = re.search(r"-?\d+", str(failure))  # "Returned code -6"
        words = explain(" ".join(command), int(status[0]) if status else None)
        if words is None:
            raise
        session.error(words)


@contextlib.contextmanager
def step(session: nox.Session, title: str) -> Iterator[None]:
    start = time.monotonic()
    session.log(f"== {title}")
    yield
    session.log(f"== {title}: {time.monotonic() - start:.1f} s")


def refuse_arguments(session: nox.Session) -> None:
    if session.posargs:
        session.error(f"{session.name} takes no arguments, not {session.posargs}")


def commit_to_record(session: nox.Session) -> str | None:
    """The commit, if the arguments are `--record COMMIT`."""
    words = session.posargs
    return words[1] if words[:1] == ["--record"] and len(words) == 2 else None


def fingerprint(sources: list[str] | list[Path], *more: str) -> str:
    """A hash of files and folders without their tests/, the Python and the compiler."""
    digest = hashlib.sha256()
    settings = [sys.version, os.environ.get("CXX", ""), os.environ.get("CXXFLAGS", "")]
    for text in [*settings, *more]:
        digest.update(f"{text}\0".encode())
    for source in (ROOT / source for source in sources):
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            generated = path.suffix in (".pyc", ".so") or path.name == "_build_info.py"
            generated |= any(path.is_relative_to(ROOT / name) for name in INSTALLED)
            inside = path.relative_to(source).parts
            if path.is_file() and not generated and "tests" not in inside:
                digest.update(f"{path.relative_to(ROOT)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def tracked_files(session: nox.Session) -> list[str]:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = session.run(*listing, external=True, silent=True, log=False)
    return [name for name in str(names).splitlines() if (ROOT / name).is_file()]


def is_current(stamp: Path, key: str) -> bool:
    return stamp.exists() and stamp.read_text() == key

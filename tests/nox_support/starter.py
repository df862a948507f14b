"""The sessions about the starter backend; see docs/start/first-backend.md."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import nox

from nox_support.environments import ROOT, run, step

STARTER_SOURCES = [
    *("openreg/starter/csrc", "openreg/starter/examples"),
    *("openreg/starter/torch_starter", "openreg/starter/CMakeLists.txt"),
    *("openreg/starter/pyproject.toml", "openreg/starter/setup.py"),
    *("openreg/new_backend.py", "openreg/cloning", "openreg/tests/conftest.py"),
    *("openreg/tests/support", "openreg/tests/operators/test_minimal.py"),
]
# Hides torch_openreg, if it is installed: a process can load only one backend.
WITHOUT_OPENREG = ROOT / "openreg/tests/autoload/without_openreg"


def train_on_starter(session: nox.Session, tools: Path, site: Path) -> None:
    """Install the starter and the driver into `site`, and train a network."""
    shutil.rmtree(site, ignore_errors=True)
    with step(session, "building the starter backend"):
        command = ["pip", "install", "--no-build-isolation", "--no-deps", "--no-index"]
        command += ["--quiet", "--target", str(site), "openreg/starter"]
        own = {"CMAKE_ARGS": "-DDRIVER_ROOT="}  # CMake remembers an earlier one
        run(session, tools, *command, env=own)
    env = {"PYTHONPATH": f"{site}{os.pathsep}{WITHOUT_OPENREG}"}
    with step(session, "training on it"):
        run(session, tools, "python", "openreg/starter/examples/train.py", env=env)


def write_pages(session: nox.Session, install: Callable[[nox.Session], Path]) -> None:
    """Write the page of the ladder, or one of the knock-outs; fail if it changes."""
    scripts = {
        "ladder": ["ladder.py"],
        "all": ["ladder.py", "all"],
        "knockouts": ["starter_knockouts.py"],
        "conformance": ["conformance_knockouts.py"],
    }
    chosen = session.posargs or ["ladder"]
    if not set(chosen) <= set(scripts):
        session.error(f"{session.name} takes {' or '.join(scripts)}, not {chosen}")
    tools = install(session)
    for name in chosen:
        with step(session, f"running the programs of the {name}"):
            script, *options = scripts[name]
            run(session, tools, "python", f"openreg/tests/tools/{script}", *options)

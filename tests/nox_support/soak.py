"""Runs the soak, also on a build with a sanitizer; see docs/ship/robustness.md."""

import os
import shutil
import subprocess
from pathlib import Path

import nox

from nox_support.driver import BUILD
from nox_support.environments import ROOT, run, step

# Python has no sanitizer: its own runtime must be loaded first. That one looks for the
# functions that throw when it starts, so the C++ library comes with it.
RUNTIME = ("libasan.so", "libstdc++.so")
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0"}  # of Python
PACKAGE = ROOT / "openreg" / "torch_openreg"


def run_soak(session: nox.Session, tools: Path) -> None:
    """Run random programs for half an hour, or for as long as the arguments say.

    `--sanitize` builds driver and backend with AddressSanitizer first.
    """
    given, more, env = [*session.posargs], list[str](), dict[str, str]()
    if "--sanitize" in given:
        given.remove("--sanitize")
        more, env = ["--sanitizer", "address"], build_sanitized(session, tools)
    command = ["python", "openreg/tests/tools/run_soak.py", "--minutes", "30"]
    run(session, tools, *command, *given, *more, env=env)


def build_sanitized(session: nox.Session, tools: Path) -> dict[str, str]:
    """Builds driver and backend; the variables with which Python finds them."""
    build = BUILD / "backend-address"
    package = build / "site" / PACKAGE.name
    configure = ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(build)]
    configure += [f"-DPython_EXECUTABLE={tools / 'python'}", "-DCMAKE_BUILD_TYPE=None"]
    configure += ["-DCMAKE_UNITY_BUILD=ON", "-DOPENREG_SANITIZE=address"]
    configure += ["-DCMAKE_CXX_FLAGS=-O1 -g1 -DNDEBUG -fsanitize=address"]
    configure += ["-DCMAKE_CXX_COMPILER=g++", f"-DCMAKE_INSTALL_PREFIX={package}"]
    compile_all = ["cmake", "--build", str(build), "--parallel", str(os.cpu_count())]
    no_backend = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    with step(session, "building the backend with AddressSanitizer"):
        for command in (configure, compile_all, ["cmake", "--install", str(build)]):
            run(session, tools, *command, env=no_backend)
        ignore = shutil.ignore_patterns("csrc", "__pycache__", "include", "lib", "*.so")
        shutil.copytree(PACKAGE, package, ignore=ignore, dirs_exist_ok=True)
    runtime = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in RUNTIME
    ]
    preload = {"LD_PRELOAD": " ".join(runtime)}
    return {"PYTHONPATH": str(package.parent), **preload, **OPTIONS}

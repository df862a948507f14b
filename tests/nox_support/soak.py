"""Runs the soak, also on a build with a sanitizer; see docs/ship/robustness.md."""

import os
import shutil
import subprocess
from pathlib import Path

import nox

from nox_support.driver import BUILD
from nox_support.environments import ROOT, run, step

# The library of each sanitizer, and how it runs under a Python that has none.
RUNTIMES = {
    "address": ("libasan.so", {"ASAN_OPTIONS": "detect_leaks=0"}),  # Python's own
    "thread": ("libtsan.so", {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}),
}
PACKAGE = ROOT / "openreg" / "torch_openreg"


def run_soak(session: nox.Session, tools: Path) -> None:
    """Run random programs for half an hour, or for as long as the arguments say.

    `--sanitize NAME` builds driver and backend with that sanitizer first.
    """
    given, more, env = [*session.posargs], list[str](), dict[str, str]()
    if "--sanitize" in given:
        place = given.index("--sanitize")
        name = "".join(given[place + 1 : place + 2])
        if name not in RUNTIMES:
            session.error(f"--sanitize takes {' or '.join(RUNTIMES)}, not {name!r}")
        del given[place : place + 2]
        more, env = ["--sanitizer", name], build_sanitized(session, tools, name)
    command = ["python", "openreg/tests/tools/run_soak.py", "--minutes", "30"]
    run(session, tools, *command, *given, *more, env=env)


def build_sanitized(session: nox.Session, tools: Path, name: str) -> dict[str, str]:
    """Builds driver and backend; the variables with which Python finds them."""
    build = BUILD / f"backend-{name}"
    package = build / "site" / PACKAGE.name
    configure = ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(build)]
    configure += [f"-DPython_EXECUTABLE={tools / 'python'}", "-DCMAKE_BUILD_TYPE=None"]
    configure += ["-DCMAKE_UNITY_BUILD=ON", f"-DOPENREG_SANITIZE={name}"]
    configure += [f"-DCMAKE_CXX_FLAGS=-O1 -g1 -DNDEBUG -fsanitize={name}"]
    configure += ["-DCMAKE_CXX_COMPILER=g++", f"-DCMAKE_INSTALL_PREFIX={package}"]
    compile_all = ["cmake", "--build", str(build), "--parallel", str(os.cpu_count())]
    no_backend = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    with step(session, f"building the backend with the {name} sanitizer"):
        for command in (configure, compile_all, ["cmake", "--install", str(build)]):
            run(session, tools, *command, env=no_backend)
        ignore = shutil.ignore_patterns("csrc", "__pycache__", "include", "lib", "*.so")
        shutil.copytree(PACKAGE, package, ignore=ignore, dirs_exist_ok=True)
    library, options = RUNTIMES[name]
    ask = ["g++", f"-print-file-name={library}"]
    runtime = subprocess.check_output(ask, text=True).strip()
    return {"PYTHONPATH": str(package.parent), "LD_PRELOAD": runtime, **options}

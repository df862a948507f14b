# Compiles the backend with warnings as errors, for `nox -s lint`; see CONTRIBUTING.md.
import os

import nox

from nox_support.driver import STRICT
from nox_support.environments import ROOT, environment, is_current, run, step
from nox_support.machine import check_machine

BUILD = ROOT / "build"
STAMP = BUILD / "strict.key"  # even a build for users may have warned of nothing


def compile_strictly(session: nox.Session, key: str) -> None:
    """Compiles all sources with warnings as errors, unless a build has done so.

    ``key`` stands for the contents of the sources.
    """
    if is_current(STAMP, key):
        session.log("C++: unchanged since it compiled with warnings as errors")
        return
    check_machine(session)
    tools = environment(session, "tests")
    folder = str(BUILD / "strict")
    options = [f"-DPython_EXECUTABLE={tools / 'python'}", STRICT]
    options += ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]
    with step(session, "compiling with warnings as errors"):
        run(session, tools, "cmake", "-G", "Ninja", "-S", ".", "-B", folder, *options)
        jobs = os.environ.get("MAX_JOBS") or str(os.cpu_count())
        run(session, tools, "cmake", "--build", folder, "--parallel", jobs)
    STAMP.write_text(key)

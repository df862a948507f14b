"""Builds the driver by itself and runs its C++ tests; `nox -s tests` ends with them."""

import os
from pathlib import Path

import nox

from nox_support.environments import ROOT, run, step

BUILD = ROOT / "build"
DRIVER = ROOT / "openreg" / "third_party" / "openreg"
NO_GOOGLETEST = "GoogleTest is missing"  # what the driver's CMake says without it
STRICT = "-DOPENREG_WERROR=ON"  # in CMAKE_ARGS: a warning of the compiler is an error


def test_driver(session: nox.Session, tools: Path) -> None:
    """Runs the driver's C++ tests: as they are, and under two sanitizers."""
    quietly = {"silent": True, "success_codes": [0, 1]}
    strict = [STRICT] if STRICT in os.environ.get("CMAKE_ARGS", "") else []
    for sanitizer in ("", "address", "thread"):
        name = sanitizer or "plain"
        directory = str(BUILD / f"driver-{name}")
        options = [*strict, "-DOPENREG_BUILD_TESTS=ON", "-DCMAKE_UNITY_BUILD=ON"]
        options += [f"-DOPENREG_SANITIZE={sanitizer}"]
        configure = ["cmake", "-G", "Ninja", "-S", str(DRIVER), "-B", directory]
        with step(session, f"C++ tests of the driver, {name}"):
            output = run(session, tools, *configure, *options, **quietly)
            if NO_GOOGLETEST in output:
                session.warn(
                    "GOOGLETEST IS MISSING: THE DRIVER'S C++ TESTS DID NOT RUN. "
                    "Install it (Debian, Ubuntu: apt-get install libgtest-dev)"
                )
                return
            run(session, tools, "cmake", "--build", directory)
            # One more than there are cores: the tests wait for streams and processes.
            parallel = ["--parallel", str((os.cpu_count() or 1) + 1)]
            report = ["--output-on-failure", "--test-dir", directory]
            run(session, tools, "ctest", *parallel, *report)

# Compiles for Arm what differs there, for `nox -s lint`; see docs/ship/arm.md.
"""The driver, and the backend's files that choose code by the processor."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nox

from nox_support.driver import DRIVER, STRICT
from nox_support.environments import ROOT, environment, is_current, run, step

BUILD = ROOT / "build"
COMPILER = "aarch64-linux-gnu-g++"
CROSS = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
CROSS += [f"-DCMAKE_CXX_COMPILER={COMPILER}"]  # what CMake must know
CHOOSES = re.compile(r"\b__(?:aarch64|x86_64)__\b")
FLAGS = ["-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror"]
FLAGS += ["-DAT_PER_OPERATOR_HEADERS", "-Iopenreg", f"-I{DRIVER / 'include'}"]


def compile_for_arm(session: nox.Session, key: str) -> None:
    """Compile with warnings as errors, unless that was done, or say why it was not.

    Nothing of it runs: see the page for what does.

    Args:
        key: stands for the contents of the sources.
    """
    folder = BUILD / "aarch64"
    stamp, verdict = folder / ".key", BUILD / "aarch64.txt"  # the latter for .ci/run
    if shutil.which(COMPILER) is None:
        session.warn(
            f"NOT COMPILED FOR ARM: {COMPILER} IS MISSING. Install it (Debian, Ubuntu: "
            "apt-get install g++-aarch64-linux-gnu)"
        )
        BUILD.mkdir(exist_ok=True)
        verdict.write_text(f"not compiled, without {COMPILER}\n")
        return
    if is_current(stamp, key):
        session.log("Arm: unchanged since it compiled with warnings as errors")
        return
    verdict.unlink(missing_ok=True)
    tools = environment(session, "tests")
    configure = ["cmake", "-G", "Ninja", "-S", str(DRIVER), "-B", str(folder), STRICT]
    configure += [*CROSS, "-DCMAKE_UNITY_BUILD=ON"]
    with step(session, "compiling the driver for Arm"):
        run(session, tools, *configure, "-DOPENREG_BUILD_TESTS=OFF")
        run(session, tools, "cmake", "--build", str(folder))
    files = list(files_that_choose())
    with step(session, f"compiling {len(files)} files of the backend for Arm"):
        for file in files:
            target = ["-c", str(file), "-o", str(folder / f"{file.stem}.o")]
            headers = [f"-isystem{path}" for path in torch_headers(tools)]
            command = [COMPILER, *FLAGS, *headers, *target]
            run(session, tools, *command)
    stamp.write_text(key)
    verdict.write_text(f"the driver and {len(files)} files compiled\n")


def files_that_choose() -> Iterator[Path]:
    """The sources of the backend with code for one processor and for another."""
    for path in sorted((ROOT / "openreg/csrc").rglob("*.cpp")):
        if CHOOSES.search(path.read_text()):
            yield path.relative_to(ROOT)


def torch_headers(tools: Path) -> list[Path]:
    """The folders of torch's headers, which are the same for all processors."""
    (include,) = tools.parent.glob("lib/python3.*/site-packages/torch/include")
    return [include, include / "torch/csrc/api/include"]

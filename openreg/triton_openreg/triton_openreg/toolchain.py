# Runs the C++ compiler; see docs/modules/triton-compiler.md.
"""From C++ to a shared library, with the compiler that Inductor uses too."""

import functools
import os
import platform
import shlex
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = (
    *("-std=c++20", "-O3", "-shared", "-fPIC", "-w"),
    # Integers wrap; no function sets errno, and no kernel reads the exception flags.
    # Else floating point is IEEE's: no -ffast-math.
    *("-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing"),
    *("-fvisibility=hidden", f"-I{HERE / 'include'}"),
)


def compiler() -> list[str]:
    """Return the command: ``CXX``, or ``g++``, as Inductor has it."""
    return shlex.split(os.environ.get("CXX", "g++"))


@functools.cache
def processor_flags() -> tuple[str, ...]:
    """Return ``-march=native`` where the compiler has it."""
    flag = "-march=native"
    probe = [*compiler(), flag, "-E", "-x", "c++", os.devnull]
    found = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return (flag,) if found else ()


@functools.cache
def fingerprint() -> str:
    """Return a text that is another on a machine whose binaries would not run here."""
    version = subprocess.run(
        [*compiler(), "--version"], capture_output=True, text=True, check=False
    ).stdout
    features = ""
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        lines = cpuinfo.read_text().splitlines()
        features = next((x for x in lines if x.startswith(("flags", "Features"))), "")
    return "\n".join((version, platform.machine(), features, *FLAGS))


@functools.cache
def driver_library() -> Path:
    """Return the device's driver, which the kernels call."""
    import torch_openreg

    return Path(torch_openreg.__file__).parent / "lib" / "libopenreg.so"


def build(source: str, fusion: bool) -> bytes:
    """Compile a kernel; return the shared library."""
    contract = f"-ffp-contract={'fast' if fusion else 'off'}"
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
        file.write_text(source)
        command = [*compiler(), *FLAGS, *processor_flags(), contract, str(file)]
        command += ["-o", str(library), str(driver_library())]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")
        return library.read_bytes()

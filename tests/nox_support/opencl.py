"""The session of the second device: makes its backend and tries it; see docs/opencl."""

from __future__ import annotations

import ctypes.util
import os
import shutil
from pathlib import Path
from typing import Any

import nox

from nox_support.environments import (
    ROOT,
    commit_to_record,
    fingerprint,
    is_current,
    run,
    step,
)
from nox_support.site import run_pages_with
from nox_support.starter import WITHOUT_OPENREG

DEVICE = ROOT / "openreg/devices/opencl"
OPENCL_SOURCES = ["openreg/devices/opencl", "openreg/new_backend.py", "openreg/cloning"]
BUILD = ROOT / "build/opencl"
COPY, SITE = BUILD / "copy", BUILD / "site"
OPENCL_PAGES = "docs/opencl/"
LEVELS = "0..4"  # of the kit; level 5 asks for graphs and collectives too
# Two devices, also where OpenCL has one: each gets half of its compute units.
TWO_DEVICES = {"OCLRT_SUB_DEVICES": "1"}
ONE_DEVICE = {"OCLRT_SUB_DEVICES": "0"}


def missing_packages() -> list[str]:
    """The Debian packages that the driver needs and this machine has not."""
    vendors = Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"))
    there = {
        "opencl-headers": Path("/usr/include/CL/cl.h").is_file(),
        "ocl-icd-opencl-dev": ctypes.util.find_library("OpenCL") is not None,
        "pocl-opencl-icd": any(vendors.glob("*.icd")),
    }
    return [package for package, found in there.items() if not found]


def try_opencl(
    session: nox.Session, tools: Path, docs_tools: Path, sources: list[str]
) -> None:
    """Try the driver below the built backend, then the backend with both rooms.

    Args:
        docs_tools: of the environment that runs pages.
        sources: of the backend. With the argument ``drop-in``, the first part is all.
    """
    commit = commit_to_record(session)
    if session.posargs not in ([], ["drop-in"]) and commit is None:
        session.error(
            "opencl takes no argument, or drop-in, or --record COMMIT, not "
            f"{session.posargs}"
        )
    if missing := missing_packages():
        session.error(
            f"OpenCL is not complete here. Install {' '.join(missing)} (Debian, "
            "Ubuntu: apt-get install), or the OpenCL of your GPU in place of "
            "pocl-opencl-icd"
        )
    if commit is not None:
        build_copy(session, tools, sources)
        record(session, tools, commit)
        return
    try_drop_in(session, tools)
    if session.posargs != ["drop-in"]:
        build_copy(session, tools, sources)
        try_copy(session, tools)
        run_pages_with(session, docs_tools, OPENCL_PAGES, with_ocl())


def try_drop_in(session: nox.Session, tools: Path) -> None:
    """Judge the installed backend with the driver over OpenCL below it."""
    env = drop_in(session, tools)
    with step(session, "C++ tests of the driver"):
        ctest = ["ctest", "--output-on-failure", "--test-dir", str(BUILD / "drop-in")]
        run(session, tools, *ctest)
    with step(session, "judging torch_openreg with this driver"):
        judge(session, tools, "openreg", env)


def drop_in(session: nox.Session, tools: Path) -> dict[str, str]:
    """Build the driver as libopenreg.so; the environment in which it is found."""
    build = BUILD / "drop-in"
    configure = ["cmake", "-G", "Ninja", "-S", str(DEVICE / "driver"), "-B", str(build)]
    configure += ["-DOPENREG_DROP_IN=ON", "-DOCLRT_WERROR=ON"]
    with step(session, "building the driver"):
        run(session, tools, *configure, silent=True)
        run(session, tools, "cmake", "--build", str(build))
    return {"OPENREG_DRIVER": str(build / "libopenreg.so"), **TWO_DEVICES}


def build_copy(session: nox.Session, tools: Path, sources: list[str]) -> None:
    """Make the backend as a vendor would, from its two rooms, and install it."""
    key = fingerprint([*sources, *OPENCL_SOURCES])
    if is_current(BUILD / ".key", key):
        return
    shutil.rmtree(SITE, ignore_errors=True)
    with step(session, "building the backend of the device ocl"):
        run(session, tools, "python", str(DEVICE / "make_backend.py"), str(COPY))
        install = ["pip", "install", "--no-build-isolation", "--no-deps", "--no-index"]
        run(session, tools, *install, "--quiet", "--target", str(SITE), str(COPY))
    (BUILD / ".key").write_text(key)


def with_ocl() -> dict[str, str]:
    """The environment in which torch finds the device ocl, and no other backend."""
    return {"PYTHONPATH": f"{SITE}{os.pathsep}{WITHOUT_OPENREG}", **TWO_DEVICES}


def try_copy(session: nox.Session, tools: Path) -> None:
    """Run the tests of the copy and of the kernels, and judge it."""
    env = with_ocl()
    pytest = ["python", "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    where = ["--rootdir", str(COPY), "-c", str(COPY / "pyproject.toml")]
    with step(session, "tests that came with the copy"):
        run(session, tools, *pytest, *where, str(COPY / "tests"), env=env)
    with step(session, "tests of the kernels, and training"):
        run(session, tools, *pytest, *where, str(DEVICE / "tests"), env=env)
    with step(session, "judging the device ocl"):
        judge(session, tools, "ocl", env)


def record(session: nox.Session, tools: Path, commit: str) -> None:
    """Keep what the guide shows: the kit's verdicts, the bring-up, the times."""
    with step(session, "the kit with all levels, on both backends"):
        for name, env in (("openreg", drop_in(session, tools)), ("ocl", with_ocl())):
            report = judge(session, tools, name, env, "0..5", success_codes=[0, 1])
            row = "ocl" if name == "ocl" else "openreg on OpenCL"
            keep = ["python", "openreg/tests/tools/conformance/record.py", str(report)]
            run(session, tools, *keep, row, commit)
    with step(session, "speed"):
        benchmark = ["python", "-P", "openreg/benchmarks/opencl.py", commit]
        run(session, tools, *benchmark, env={**with_ocl(), **ONE_DEVICE})
    with step(session, "the days of the bring-up"):
        days = ["python", "openreg/tests/tools/opencl_days.py", str(BUILD), commit]
        run(session, tools, *days, env=with_ocl())


def judge(
    session: nox.Session,
    tools: Path,
    device: str,
    env: dict[str, str],
    levels: str = LEVELS,
    **options: Any,
) -> Path:
    """Run the conformance kit; return the file of its report."""
    report = BUILD / f"{device}.json"
    command = ["python", "-m", "torch_conformance", "--device", device]
    command += ["--level", levels, "--json", str(report)]
    command += ["--jobs", "2"]  # many cases wait for slow kernels
    run(session, tools, *command, env=env, **options)
    return report

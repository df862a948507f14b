# The session that runs the backend on an emulated Arm processor; see docs/ship/arm.md.
"""Cross-builds driver and wheel, and runs tests in a Debian tree for aarch64."""

import datetime
import json
import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import nox

from nox_support.arm import COMPILER, CROSS
from nox_support.driver import DRIVER
from nox_support.environments import (
    LOCKS,
    ROOT,
    commit_to_record,
    fingerprint,
    is_current,
    new_environment,
    run,
    step,
    tracked_files,
)

HOME = ROOT / "build/qemu"
TREE = HOME / "tree"  # a Debian for Arm, whose Python is 3.11
SITE = TREE / "opt/site"  # torch and the packages of requirements/tests.txt
SOURCES = TREE / "opt/openreg"  # the tests, and what they read
BACKEND = TREE / "opt/backend"
RECORDED = ROOT / "openreg/tests/tools/aarch64.json"
RELEASE = "bookworm"
INCLUDE = "python3,python3-dev,libgomp1,libgtest-dev,ca-certificates"
EMULATOR = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")
PREFIX = "aarch64-linux-gnu"
GLIBC = range(17, 29)  # the versions that a wheel may ask for, as 2.17
# With the vectors of the default processor, convolutions of torch are wrong.
PROCESSOR = "max,sve=off"
TESTS = [  # which start few processes: an import of torch takes half a minute
    "runtime/test_device.py",
    "runtime/test_stream.py",
    "runtime/test_stream_order.py",
    "runtime/test_stream_autograd.py",
    "runtime/test_event.py",
    "runtime/test_memory.py",
    "runtime/test_generator.py",
    "runtime/test_storage.py",
    "runtime/test_threads.py",
    "operators/test_minimal.py",
    "operators/test_training.py",
    "modules/test_distributed.py",
]
# Nor is there a compiler in the tree.
COMPILING = [
    "runtime/test_event.py::test_a_call_that_throws_leaves_no_event",
    "runtime/test_event.py::test_record_event_of_torch_loses_its_event_when_it_fails",
]


def try_on_arm(session: nox.Session, tools: Path, sources: list[str]) -> None:
    """Build for Arm, run what qemu can, and with ``--record COMMIT`` keep the counts.

    Args:
        tools: of the environment in which wheels are built.
        sources: of the backend.
    """
    commit = commit_to_record(session)
    if session.posargs and commit is None:
        session.error(f"aarch64 takes nothing, or --record COMMIT: {session.posargs}")
    refuse_machine(session)
    make_tree(session, tools)
    build_driver(session, tools)
    build_wheel(session, tools, fingerprint(sources))
    rows = [run_driver_tests(session, tools)]
    copy_sources(session)
    rows += run_tests(session, tools)
    table = ["| tests | passed | failed |", "|---|--:|--:|", *rows]
    session.log("\n".join(table))
    if commit is not None:
        record(table, commit)


def refuse_machine(session: nox.Session) -> None:
    """Refuse a machine that cannot make the tree, or start a program for Arm."""
    programs = {
        "debootstrap": "debootstrap",
        "qemu-aarch64-static": "qemu-user-static",
        COMPILER: f"g++-{PREFIX}",
    }
    missing = [package for name, package in programs.items() if not shutil.which(name)]
    if missing:
        session.error(f"Install {' '.join(missing)} (Debian, Ubuntu: apt-get install)")
    if sys.version_info[:2] != (3, 11):
        session.error(f"Run nox with Python 3.11, as {RELEASE} has it: {sys.version}")
    if os.geteuid() != 0:
        session.error("aarch64 makes a tree of another system, which only root may do")
    if not EMULATOR.exists():
        session.error(
            "Linux does not start programs for Arm here. Register qemu, a setting of "
            "the whole machine, until it restarts: mount -t binfmt_misc none "
            f"{EMULATOR.parent}; cat /usr/lib/binfmt.d/qemu-aarch64.conf > "
            f"{EMULATOR.parent}/register"
        )


def make_tree(session: nox.Session, tools: Path) -> None:
    """Make a Debian for Arm, with the torch and the packages of the tests."""
    locks = [LOCKS / "torch.txt", LOCKS / "tests.txt"]
    key, stamp = fingerprint(locks, RELEASE, INCLUDE), HOME / ".tree-key"
    if is_current(stamp, key):
        return
    shutil.rmtree(TREE, ignore_errors=True)
    HOME.mkdir(parents=True, exist_ok=True)
    with step(session, "a Debian for Arm"):
        options = ["--arch=arm64", "--variant=minbase", f"--include={INCLUDE}"]
        run(session, tools, "debootstrap", *options, RELEASE, str(TREE))
    with step(session, "torch for Arm"):
        platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in GLIBC]
        platforms += ["--platform=manylinux2014_aarch64", "--only-binary=:all:"]
        python = ["--python-version=3.11", "--implementation=cp", "--isolated"]
        install = ["pip", "install", "--no-compile", f"--target={SITE}", *platforms]
        run(session, tools, *install, *python, "-r", str(LOCKS / "tests.txt"))
    stamp.write_text(key)


def emulated() -> dict[str, str]:
    """The environment in which a program outside of the tree finds its libraries."""
    return {"QEMU_LD_PREFIX": str(TREE), "QEMU_CPU": PROCESSOR}


def build_driver(session: nox.Session, tools: Path) -> None:
    """Build the driver and its C++ tests."""
    configure = ["cmake", "-G", "Ninja", "-S", str(DRIVER), "-B", str(HOME / "driver")]
    configure += [*CROSS, "-DOPENREG_BUILD_TESTS=ON", "-DCMAKE_UNITY_BUILD=ON"]
    configure.append(f"-DGTest_DIR={TREE}/usr/lib/{PREFIX}/cmake/GTest")
    with step(session, "building the driver for Arm"):
        run(session, tools, *configure, silent=True)
        build = ["cmake", "--build", str(HOME / "driver")]
        run(session, tools, *build, env=emulated())  # lists the tests by running them


def build_wheel(session: nox.Session, tools: Path, key: str) -> None:
    """Build the wheel as for this machine, with the settings of another Python."""
    stamp = BACKEND / ".key"  # a new tree has no wheel
    if is_current(stamp, key):
        return
    python = new_environment(session, "aarch64")  # with the packages of the other one
    settings = f"_sysconfigdata__{PREFIX}"
    (packages,) = python.parent.glob("lib/python3.*/site-packages")
    shutil.copy(TREE / f"usr/lib/python3.11/{settings}.py", packages)
    (packages / "arm.pth").write_text(f"{SITE}\n")
    headers = sysconfig.get_path("include")
    for old in HOME.glob("*.whl"):
        old.unlink()
    options = [*CROSS, f"-DCMAKE_C_COMPILER={PREFIX}-gcc"]
    options.append(f"-DPython_INCLUDE_DIR={headers}")
    path = os.pathsep.join([str(python), str(tools), os.environ["PATH"]])
    # LITERALINCLUDE START: CROSS_WHEEL
    env = {
        "PATH": path,
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
        "_PYTHON_SYSCONFIGDATA_NAME": settings,
        "CMAKE_ARGS": " ".join(options),
    }
    flags = ["--no-build-isolation", "--no-deps", "-w", str(HOME)]
    with step(session, "building the wheel for Arm"):
        run(session, python, "pip", "wheel", *flags, str(ROOT), env=env)
    # LITERALINCLUDE END: CROSS_WHEEL
    shutil.rmtree(BACKEND, ignore_errors=True)
    wheel = next(HOME.glob("torch_openreg-*_aarch64.whl"))
    with step(session, "installing it in the tree"):
        shutil.unpack_archive(wheel, BACKEND, "zip")
    stamp.write_text(key)


def run_driver_tests(session: nox.Session, tools: Path) -> str:
    """Run the driver's C++ tests; return a row of the table."""
    report = HOME / "driver.xml"
    ctest = ["ctest", "--test-dir", str(HOME / "driver"), "--output-junit", str(report)]
    with step(session, "C++ tests of the driver, under qemu"):
        ctest += ["--timeout", "300", "--output-on-failure"]
        run(session, tools, *ctest, env=emulated(), success_codes=range(256))
    return row("the driver's, in C++", list(ElementTree.parse(report).iter("testcase")))


def copy_sources(session: nox.Session) -> None:
    """Copy the repository into the tree: tests read more than themselves."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    for name in tracked_files(session):
        (SOURCES / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, SOURCES / name)


def run_tests(session: nox.Session, tools: Path) -> list[str]:
    """Run some tests of the backend in the tree; return rows of the table."""
    pytest = "/usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml=/opt/report"
    names = " ".join(f"openreg/tests/{name}" for name in TESTS)
    names += "".join(f" --deselect=openreg/tests/{name}" for name in COMPILING)
    variables = f"PYTHONPATH=/opt/backend:/opt/site QEMU_CPU={PROCESSOR}"
    # The mounts end with this command. Without /sys: torch would crash at its import.
    program = f"""
    mount --bind /proc {TREE}/proc && mount --bind /dev {TREE}/dev &&
    cd {TREE} && exec chroot . /usr/bin/env -i PATH=/usr/bin:/bin {variables} \
    sh -c 'cd /opt/openreg && exec {pytest} {names}'
    """
    report = TREE / "opt/report"
    report.unlink(missing_ok=True)
    with step(session, "tests of the backend, under qemu"):
        isolated = ["unshare", "--mount", "sh", "-c", program]
        run(session, tools, *isolated, success_codes=range(256))
    if not report.exists():
        session.error("the tests ended without a report: see above")
    cases = list(ElementTree.parse(report).iter("testcase"))
    return [
        row(f"`{name}`", [case for case in cases if is_in(case, name)])
        for name in TESTS
    ]


def is_in(case: ElementTree.Element, name: str) -> bool:
    """Whether a case of the report is from a file below the tests."""
    module = f"openreg/tests/{name}".replace("/", ".")[:-3]
    return f"{case.get('classname')}.".startswith(f"{module}.")  # a class may follow


def row(name: str, cases: list[ElementTree.Element]) -> str:
    """Return a row of the table from cases of a file in JUnit's format."""
    failed = [case for case in cases if case.find("failure") is not None]
    failed += [case for case in cases if case.find("error") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    passed = len(cases) - len(failed) - len(skipped)
    return f"| {name} | {passed} | {len(failed)} |"


def record(table: list[str], commit: str) -> None:
    """Keep the table for the guide."""
    torch = (LOCKS / "torch.txt").read_text().rpartition("==")[2].strip()
    kept = {
        "date": datetime.date.today().isoformat(),
        "commit": commit,
        "torch": torch,
        "machine": f"qemu on {platform.machine()}",
        "tables": {"tests": table},
    }
    RECORDED.write_text(json.dumps(kept, indent=2) + "\n")

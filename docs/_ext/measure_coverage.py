"""Runs the tests and the pages on a backend that counts its lines, and judges them.

Explained in CONTRIBUTING.md, "Writing a chapter". `nox -s coverage` runs it in its
own environment, because it installs that backend there: without optimization,
instrumented by g++. Then it hands the counts of gcov and of coverage.py to
`region_coverage.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import region_coverage

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "coverage"
DUMP = Path(__file__).with_name("dump_counts.c")
PACKAGE = ROOT / "openreg" / "torch_openreg"
# They are no part of that package, and import nothing of it.
TOOLS = [ROOT / "openreg" / f"torch_openreg_{name}" for name in ("compare", "diagnose")]
TOOLS += [ROOT / "openreg" / "conformance" / "torch_conformance"]
# The same as in setup.py.
ENTRY_POINTS = """
[torch.backends]
torch_openreg = torch_openreg:_autoload
[torch.distributed.backends]
occl = torch_openreg.openreg._distributed:_register
[torch_dynamo_backends]
openreg = torch_openreg._dynamo:record_graphs
"""
METADATA = "Metadata-Version: 2.1\nName: torch_openreg\nVersion: {}\n"
# Threads also count lines. NDEBUG, as in the build that is released.
FLAGS = "--coverage -fprofile-update=atomic -O0 -DNDEBUG"
# They build the package again, measure time, need optimized code, or a race with it.
LEFT_OUT = [
    "test_install.py",
    "test_backends_add_little_to_the_time_of_import_torch",
    "test_variables_of_functions_have_no_destructors",
    "test_a_thread_of_gloo_that_is_late_aborts",
]


def compile_dump(target: Path) -> Path:
    """Compile what lets forks write their counts, by the suffix of `target`.

    An object (.o) goes into each library that counts, a library into LD_PRELOAD.
    """
    kind = ["-c", "-DIN_LIBRARY"] if target.suffix == ".o" else ["-shared"]
    target.parent.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = ["gcc", "-O2", "-fPIC", *kind, DUMP, "-o", target]
    subprocess.run(command, check=True)
    return target


def build_libraries(target: Path) -> None:
    """Build the instrumented libraries and install them into the package `target`."""
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    configure: list[str | Path] = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", BUILD]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=None"]
    configure += ["-DCMAKE_CXX_COMPILER=g++", f"-DCMAKE_CXX_FLAGS={FLAGS}"]
    # libgcov must not export anything: a test checks what the libraries export.
    linked = f"{compile_dump(BUILD / 'dump_counts.o')} -Wl,--exclude-libs,libgcov.a"
    configure += [f"-DCMAKE_SHARED_LINKER_FLAGS={linked}"]  # _C counts nothing
    configure += [f"-DCMAKE_INSTALL_PREFIX={target}"]
    subprocess.run(configure, check=True, env=env)
    jobs = os.environ.get("MAX_JOBS") or str(os.cpu_count())
    subprocess.run(["cmake", "--build", BUILD, "--parallel", jobs], check=True, env=env)
    subprocess.run(["cmake", "--install", BUILD], check=True, env=env)


def copy_python(package: Path, site: Path) -> None:
    """Install what setup.py takes of `package`, without its libraries, in `site`.

    pyproject.toml maps these copies to their sources for coverage.py. Links would not
    do: what resolves its own path would look for libraries beside the sources.
    """
    target = site / package.name
    taken = ("*.py", "*.json", "*.pyi", "py.typed")  # type checkers read the last two
    for source in (path for pattern in taken for path in package.rglob(pattern)):
        copy = target / source.relative_to(package)
        if source.name != "_build_info.py":  # it is of this build
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    metadata = site / f"torch_openreg-{version}.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(METADATA.format(version))
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)


def run_everything(processes: str) -> list[str]:
    """Run tests and pages; return which failed. What they ran counts in any case.

    The counts of an earlier run do not.
    """
    for old in [*BUILD.rglob("*.gcda"), *BUILD.glob(".coverage*")]:
        old.unlink()
    tests = ["-m", "pytest", "openreg/tests", "-n", processes]
    tests += ["-k", " and ".join(f"not {name}" for name in LEFT_OUT)]
    workflows = ["-m", "pytest", "docs/_ext/tests/test_workflows.py"]
    commands = {
        "the tests": tests,
        "the tests of the workflows": workflows,
        "the pages": ["docs/_ext/run_pages.py"],
    }
    env = os.environ | {"LD_PRELOAD": str(compile_dump(BUILD / "dump_counts.so"))}
    python = [sys.executable, "-m", "coverage", "run"]
    failed = []
    for name, command in commands.items():
        if subprocess.run([*python, *command], cwd=ROOT, env=env).returncode != 0:
            failed.append(name)
    return failed


def python_report() -> Path:
    report = BUILD / "coverage.json"
    report.unlink(missing_ok=True)
    for command in (["combine", "--quiet"], ["json", "--quiet", "-o", str(report)]):
        python = [sys.executable, "-m", "coverage", *command]
        subprocess.run(python, check=True, cwd=ROOT)
    return report


def cpp_reports(build: Path, folder: Path) -> Path:
    """Let gcov write a report for everything below `build` that counted."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    counts = sorted(build.rglob("*.gcda"))
    # Files of the same name in two folders get different reports by their hashes.
    command: list[str | Path] = ["gcov", "--json-format", "--hash-filenames", *counts]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-n", default="1", metavar="PROCESSES", help="number of test processes"
    )
    processes = parser.parse_args().n
    site = Path(sysconfig.get_path("purelib"))
    if (site / "torch").exists():
        parser.error("this would replace your torch_openreg: run nox -s coverage")
    try:
        shutil.rmtree(site / "torch_openreg", ignore_errors=True)
        build_libraries(site / "torch_openreg")
        copy_python(PACKAGE, site)
        for tool in TOOLS:
            copy_python(tool, site)
        failed = run_everything(processes)
        python = python_report()
        cpp = cpp_reports(BUILD, BUILD / "gcov")
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[0]} failed, see above", file=sys.stderr)
        return 1
    result = region_coverage.main(["--python", str(python), "--cpp", str(cpp)])
    if failed:
        print(f"{' and '.join(failed)} failed, see above", file=sys.stderr)
    return 1 if failed else result


if __name__ == "__main__":
    sys.exit(main())

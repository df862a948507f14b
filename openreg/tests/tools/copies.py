# Builds and tries the copies that new_backend.py makes; see docs/ship/make-it-yours.md.
"""nox -s clone

Builds the copy of the large backend, prints a tensor on it, runs the quickstart on both
devices, and runs the tests of the copy. What ``nox -s ladder`` calls takes minutes: it
trains on the copy of the starter, configures the copy for another driver, and compiles
a few files of the copy of the large backend.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]
sys.path.append(str(TOOLS.parents[1]))

from cloning.build import pip_install  # noqa: E402
from portable import run_tests  # noqa: E402
from starter_build import (  # noqa: E402
    BUILT,
    STARTER,
    environment,
    package_of,
    run_quietly,
)

TOOL = STARTER.parent / "new_backend.py"
DRIVER = "third_party/openreg"
# One for each kind of new name: classes, macros, registered names, another library.
FEW = [
    "csrc/runtime/interface/AcmeGuardImpl.cpp",
    "csrc/runtime/graph/AcmeGraph.cpp",
    "csrc/runtime/memory/AcmeAllocatorConfig.cpp",
    "csrc/distributed/ProcessGroupACMECCL.cpp",
]


def copy(name: str, *options: str) -> Path:
    """A new copy of a backend for the device `acme`."""
    source = BUILT / name
    shutil.rmtree(source, ignore_errors=True)
    run_quietly([sys.executable, str(TOOL), "acme", "--into", str(source), *options])
    return source


def install(source: Path) -> Path:
    """Install a copy with pip; return the folder to import it from."""
    site = source.with_name(f"{source.name}-site")
    shutil.rmtree(site, ignore_errors=True)
    run_quietly([sys.executable, *pip_install(source, site)])
    return site


def execute(
    site: Path, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run Python where torch finds the copy."""
    command = [sys.executable, *arguments]
    env = environment(site, **env)
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=BUILT)


def train_on_the_starter() -> None:
    """Build the copy of the starter, run its tests, and train on it."""
    source = copy("acme", "--build")
    print(last_line((source / "build/tests.log").read_text()))
    process = execute(source / "build/site", str(source / "examples/train.py"))
    assert "on acme:0\nbit-equal to the CPU: True\n" in process.stdout, process.stderr


def compile_a_few() -> None:
    """Compile some files of the full copy; write no object files."""
    source = copy("full", "--stage", "9")
    torch = package_of("torch") / "include"
    system = [torch, torch / "torch/csrc/api/include", torch / "kineto"]
    system += [Path(sysconfig.get_paths()["include"])]
    command = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++20"]
    command += ["-Wall", "-Wextra", "-Werror", "-DTORCH_ACME_BUILD", "-fsyntax-only"]
    command += ["-DAT_PER_OPERATOR_HEADERS", "-DFMT_HEADER_ONLY"]
    command += [f"-I{source}", f"-I{source / DRIVER / 'include'}"]
    command += [f"-isystem{path}" for path in system]
    for name in FEW:
        run_quietly([*command, str(source / name)])


def configure_for_another_driver() -> None:
    """Let CMake find a driver of another name; nothing is compiled."""
    source = copy("rt", "--stage", "9", "--driver", "acmert")
    driver, build = source / "driver", source / "build"
    (driver / "include").mkdir(parents=True)
    (driver / "lib").mkdir()
    (driver / "lib/libacmert.so").touch()
    configure = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build)]
    configure += [f"-DPython_EXECUTABLE={sys.executable}"]
    for root, built in ("", "stubs_9.cpp"), (driver, f"{driver}/lib/libacmert.so"):
        run_quietly([*configure, f"-DDRIVER_ROOT={root}"])
        rules = (build / "build.ninja").read_text()
        assert built in rules and "openreg" not in rules


TENSOR = 'import torch; print(torch.ones(2, device="acme"))'
BY_HAND = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


def run_the_quickstart(site: Path, stage: int = 9) -> None:
    """Run its examples on both devices of one environment, in a process for each."""
    for name, reached in (("acme", stage), ("openreg", 9)):
        steps = [str(TOOLS / "quickstart_steps.py"), name, str(reached)]
        process = execute(site, *steps, **BY_HAND)
        assert process.returncode == 0, process.stdout + process.stderr
        print(process.stdout, end="")


def try_the_full_one() -> None:
    """Build the full copy, use it beside the other backend, and run its tests."""
    source = copy("full", "--stage", "9")
    site = install(source)
    process = execute(site, "-c", TENSOR)
    assert process.stdout == "tensor([1., 1.], device='acme:0')\n", process.stderr
    run_the_quickstart(site)
    process = execute(site, "-c", "import torch_acme, torch_openreg", **BY_HAND)
    assert "has already been set" in process.stderr, process.stderr
    tests = [*sys.argv[1:]] or ["tests"]
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    where = ["--rootdir", str(source), "-c", str(source / "pyproject.toml")]
    process = execute(site, *command, *where, *(str(source / name) for name in tests))
    print("\n".join(process.stdout.splitlines()[-30:]))
    assert process.returncode == 0, process.stderr


ENTRY_POINT = """
[torch.backends]
torch_acme = torch_acme:_autoload
"""


def test_large(source: Path, stage: int) -> None:
    """Try a copy that was built where its sources are: its tests, the quickstart."""
    metadata = source / "torch_acme-0.dist-info"  # as if it were installed
    metadata.mkdir(exist_ok=True)
    (metadata / "entry_points.txt").write_text(ENTRY_POINT)
    where = ["--rootdir", source, "-c", source / "pyproject.toml"]
    tests = [*where, source / "tests"]
    print(last_line(run_tests(tests, environment(source))))
    run_the_quickstart(source, stage)


def last_line(output: str) -> str:
    """The counts of pytest."""
    return f"its tests on acme: {output.splitlines()[-1]}"


def check() -> None:
    """What a change may break, without a build of the large backend."""
    train_on_the_starter()
    compile_a_few()
    configure_for_another_driver()


if __name__ == "__main__":
    try_the_full_one()

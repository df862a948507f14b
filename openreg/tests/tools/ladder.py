# Writes docs/start/ladder.md: builds each stage, runs its program and the next one.
"""Builds the first stages one by one, and writes what the programs do on each stage.

nox -s ladder              the stages up to 4; those after it as the page has them
nox -s ladder -- all       every stage, in about ten minutes of one core

Up to stage 3 each stage is the starter without the files of later stages. Then a copy
of the starter for the device `acme` is brought from stage to stage. On each,
its tests run, and the examples of the quickstart; on stage 4 also a kernel that was
written for the starter, and the conformance kit. Meanwhile it tries the copies of the
backends under another name. It ends with 1 if the page was not what it is now.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]

import copies  # noqa: E402
from cloning.spelling import without_guide  # noqa: E402
from cloning.stages import FIRST  # noqa: E402
from cloning.starter import renamed  # noqa: E402
from ladder_page import PAGE, Measured, measured_of, page  # noqa: E402
from ladder_stages import (  # noqa: E402
    OPENREG,
    STAGES,
    Stage,
    files_of,
)
from new_backend import new_backend  # noqa: E402
from patience import PATIENCE  # noqa: E402
from starter_build import (  # noqa: E402
    BUILT,
    STARTER,
    environment,
    package_of,
    run_quietly,
)
from starter_knockouts import publish  # noqa: E402

TREE, BUILD, SITE = BUILT / "ladder", BUILT / "ladder-build", BUILT / "ladder-site"
LARGE, LARGE_BUILD = BUILT / "ladder-acme", BUILT / "ladder-acme-build"
KERNEL = OPENREG / "tests/examples/first_kernel/Add.cpp"
MINE, KEPT = LARGE / "csrc/kernels/Add.cpp", LARGE / "Add.cpp.kept"
STAND_IN = OPENREG / "tests/examples/ladder/stand_in.py"
ERROR = re.compile(r"^(?:\w+\.)*\w*Error: .*", re.MULTILINE)


def add_files(stage: Stage) -> None:
    """Copy the files of a stage into the tree."""
    for path in files_of(stage):
        copy = TREE / path.relative_to(STARTER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)  # with its time: an old object file can be used


def build(stage: Stage) -> None:
    """Build and install the tree; stage 0 has nothing to compile."""
    package = SITE / "torch_starter"
    if stage.number > 0:
        driver = f"-DDRIVER_ROOT={package_of('torch_openreg')}"
        compile_tree(TREE, BUILD, package, driver)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(TREE / "torch_starter", package)
    if stage.number > 0:
        run_quietly(["cmake", "--install", str(BUILD)])
    else:
        shutil.copyfile(STAND_IN, package / "_C.py")


def build_large(stage: Stage) -> Path:
    """Bring a copy of the starter to a stage, and build it.

    The vendor has written a kernel for the starter. It is left out at first, because no
    kernel is needed, and later stages have the same operator.

    Return the folder to import it from.
    """
    if stage.number == FIRST:
        new_backend("acme", LARGE)
        MINE.parent.mkdir()
        MINE.write_text(renamed(without_guide(KERNEL.read_text()), "acme"))
    _, changed = new_backend("acme", LARGE, stage.number)
    assert not changed.edited, changed.edited
    if stage.number == FIRST:
        MINE.rename(KEPT)
    return compile_large()


def compile_large() -> Path:
    package = LARGE / "torch_acme"
    together = "-DCMAKE_UNITY_BUILD=ON"  # files of one batch share torch's headers
    compile_tree(LARGE, LARGE_BUILD, package, together)
    run_quietly(["cmake", "--install", str(LARGE_BUILD)])
    return package.parent


def run_the_kit(env: dict[str, str]) -> None:
    """Without any kernel, a backend passes levels 0 to 4 of the conformance kit."""
    command = [sys.executable, "-P", "-m", "torch_conformance", "--device", "acme"]
    kit = f"{env['PYTHONPATH']}{os.pathsep}{OPENREG / 'conformance'}"
    loaded = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "1", "PYTHONPATH": kit}
    jobs = ["--jobs", "2"]  # many cases wait for slow kernels
    run_quietly([*command, "--level", "0..4", *jobs], **{**env, **loaded})


def run_the_first_kernel(env: dict[str, str]) -> None:
    """Its test, on the copy: it was written for the starter, and nothing changed."""
    KEPT.rename(MINE)
    compile_large()
    program = "import torch, torch_acme\n" + KERNEL.with_name("prove.py").read_text()
    by_hand = {**env, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    run_quietly([sys.executable, "-c", program, "acme"], **by_hand)
    MINE.unlink()  # the build of the next stage leaves it out


def compile_tree(source: Path, folder: Path, package: Path, *options: str) -> None:
    """Configure and compile, without optimization: that is four times as fast."""
    configure = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(folder)]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", *options]
    configure += [f"-DCMAKE_INSTALL_PREFIX={package}"]
    configure += ["-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"]
    run_quietly(configure)
    run_quietly(["cmake", "--build", str(folder)])


# The tree has no entry point, because nothing installed it.
LOAD = "import torch; __import__(sys.argv[1]); runpy.run_path(sys.argv[2])"


def passes(stage: Stage, package: str, env: dict[str, str]) -> str:
    """What the program prints."""
    process = execute(stage, package, env)
    assert process.returncode == 0, f"stage {stage.number}: {process.stderr}"
    return process.stdout


def error_of(stage: Stage, package: str, env: dict[str, str]) -> str:
    """The last error of the program, on a backend that lacks the stage."""
    process = execute(stage, package, env)
    assert process.returncode != 0, f"stage {stage.number} is not needed"
    assert process.returncode > 0, f"signal {-process.returncode}"
    return last_error(process.stderr)


def last_error(stderr: str) -> str:
    errors = ERROR.findall(stderr)
    assert errors, stderr
    return str(errors[-1])


def execute(
    stage: Stage, package: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", f"import runpy, sys; {LOAD}"]
    program += [package, str(stage.program)]
    env = {**env, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    env.pop("PYTHONFAULTHANDLER", None)
    return subprocess.run(
        program, capture_output=True, text=True, env=env, timeout=PATIENCE
    )


def climb(stages: Sequence[Stage]) -> tuple[dict[int, str], dict[int, str]]:
    """Build one stage on the other.

    Return what their programs print, and the error of the program of the next stage.
    """
    printed, errors = {}, {}
    for stage in stages:
        number = stage.number
        if stage.in_starter:
            add_files(stage)
            build(stage)
            package, env = "torch_starter", environment(SITE)
        else:
            package, env = "torch_acme", environment(build_large(stage))
            copies.test_large(LARGE, number)
        printed[number] = passes(stage, package, env)
        for following in STAGES[number + 1 : number + 2]:
            errors[number + 1] = error_of(following, package, env)
        if number == FIRST:
            run_the_kit(env)
            run_the_first_kernel(env)
    return printed, errors


def measure(last: int) -> Measured:
    """For each stage, what its program prints, and its error on the stage before.

    The stages behind `last` are not built: their programs run on the installed backend,
    and the errors are those of the page. Meanwhile the copies are tried.
    """
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.rmtree(LARGE, ignore_errors=True)
    TREE.mkdir(parents=True)
    errors = {
        number: error for number, (_, error) in measured_of(PAGE.read_text()).items()
    }
    errors[0] = error_of(STAGES[0], "torch", environment(TREE))  # nothing yet
    printed = {
        stage.number: passes(stage, "torch_openreg", dict(os.environ))
        for stage in STAGES[last + 1 :]
    }
    starters = [stage for stage in STAGES if stage.in_starter]
    with ThreadPoolExecutor(2) as pool:  # one alone often leaves a core idle
        large = pool.submit(climb, STAGES[len(starters) : last + 1])
        small = pool.submit(climb, starters)
        copied = pool.submit(copies.check)
    copied.result()
    for climbed in (small, large):
        more_printed, more_errors = climbed.result()
        printed |= more_printed
        errors |= more_errors
    return {number: (printed[number], errors[number]) for number in sorted(printed)}


if __name__ == "__main__":
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
    publish(PAGE, page(measure(9 if sys.argv[1:] == ["all"] else 4)))

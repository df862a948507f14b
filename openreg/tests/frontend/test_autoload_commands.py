# Autoload however Python is started; see docs/frontend/autoload.md.
import subprocess
import sys
import textwrap
import zipapp

import pytest
from patience import PATIENCE

LOADED = "tensor([1., 1.], device='openreg:0')"
PROGRAM = "import torch\nprint(torch.ones(2, device='openreg'))\n"
# An argument like this one belongs to the program, and changes nothing.
ARGUMENTS = ["-m", "torch_openreg_diagnose", "-m"]
OTHERS = f"{sys.prefix}:{sys.base_prefix}"
COMMANDS = [
    ["program.py"],
    ["-c", PROGRAM],
    ["-m", "program"],
    ["-um", "program"],
    ["-Bumprogram"],
    ["-Xutf8", "-W", "ignore", "-mprogram"],
    ["-m", "package"],  # runs package.__main__
    ["program.pyz"],
    ["-m", "cProfile", "-o", "profile", "-m", "program"],
    # Only the program's lines are counted: torch's take half a minute.
    ["-mtrace", "--count", f"--ignore-dir={OTHERS}", "--coverdir=trace", "program.py"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holds the same program as a file, a module, two modules of a package, a zip."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "program.py").write_text(PROGRAM)
    for package in ("package", "zipped"):
        (folder / package).mkdir()
        for name in ("__init__.py", "__main__.py", "part.py"):
            text = "" if name == "__init__.py" else PROGRAM
            (folder / package / name).write_text(text)
    zipapp.create_archive(folder / "zipped", folder / "program.pyz")
    return folder


def start(folder, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_program_finds_the_device(command, folder):
    process = start(folder, *command, *ARGUMENTS)
    assert process.returncode == 0, process.stderr
    assert LOADED in process.stdout.splitlines()


@pytest.mark.parametrize(
    "command",
    [
        ["-um", "torch.distributed.run"],
        ["-Imtorch.distributed.run"],
        ["-X", "utf8", "-m", "torch.distributed.launch"],
        ["-Wignore", "-mtorch_openreg_diagnose"],
        ["-Im", "torch_openreg_diagnose"],
    ],
    ids=" ".join,
)
def test_modules_of_torch_and_of_this_package_run(command, folder):
    process = start(folder, *command, "--help")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("usage: ")


def test_torch_reports_its_environment(folder):
    process = start(folder, "-Wignore", "-mtorch.utils.collect_env")
    assert process.returncode == 0, process.stderr
    assert "PyTorch version: " in process.stdout


def test_a_launched_rank_finds_the_device(folder):
    launch = ["-um", "torch.distributed.run", "--standalone", "--nproc-per-node=1"]
    process = start(folder, *launch, "-m", "program", *ARGUMENTS)
    assert process.returncode == 0, process.stderr
    assert LOADED in process.stdout.splitlines()


def test_a_child_of_multiprocessing_finds_the_device(folder):
    (folder / "parent.py").write_text(
        textwrap.dedent("""
            import multiprocessing
            def work():
                import program
            if __name__ == "__main__":
                for method in ("spawn", "forkserver"):
                    child = multiprocessing.get_context(method).Process(target=work)
                    child.start()
                    child.join()
                    print(method, child.exitcode)
        """)
    )
    process = start(folder, "-um", "parent", *ARGUMENTS)
    lines = [LOADED, "spawn 0", LOADED, "forkserver 0"]
    assert process.stdout.splitlines() == lines, process.stderr


@pytest.mark.parametrize("left", ["['-c', '-m']", None])
def test_an_embedded_python_has_no_command_line(left, run_python):
    """Whatever a program that embeds Python leaves of the two lists, or neither."""
    change = f"sys.argv = sys.orig_argv = {left}" if left else "del sys.argv"
    if left is None:
        change += ", sys.orig_argv"
    process = run_python(f"import sys\n{change}\n{PROGRAM}")
    assert process.stdout.splitlines() == [LOADED], process.stderr

# The steps of the quickstart as a program for a device; see docs/ship/make-it-yours.md.
import subprocess
import sys
from pathlib import Path

from quickstart_steps import PAGE, programs, steps

TOOL = Path(__file__).resolve().parents[1] / "tools/quickstart_steps.py"
TEXT = PAGE.read_text()


def run_tool(tool, device="openreg"):
    command = [sys.executable, str(tool), device]
    return subprocess.run(command, capture_output=True, text=True)


def test_each_example_of_the_page_runs():
    count = TEXT.count("\n>>> ") + TEXT.count("\n$ python first.py\n")
    assert len(steps(TEXT, "acme")) + len(programs(TEXT, "acme")) == count > 30
    process = run_tool(TOOL)
    shown = f"openreg: {count} of {count} examples of the quickstart\n"
    assert (process.returncode, process.stdout) == (0, shown), process.stderr


def test_another_device_gets_the_same_steps():
    first, second = steps(TEXT, "openreg"), steps(TEXT, "acme")
    assert [step.source.replace("openreg", "acme") for step in first] == [
        step.source for step in second
    ]
    [(source, output)] = programs(TEXT, "acme")
    assert 'device="acme")\nprint(x)\n' in source
    assert output == "tensor([1, 2, 3], device='acme:0')\n"


def test_a_device_without_native_kernels_gets_all_but_two():
    every = [step.source for step in steps(TEXT, "acme")]
    fewer = [step.source for step in steps(TEXT, "acme", stage=4)]
    assert [source for source in every if source not in fewer] == [
        'torch._C._dispatch_has_kernel_for_dispatch_key("aten::add.Tensor", '
        '"PrivateUse1")\n',
        "torch.acme.fallback_counts()\n",
    ]


def test_what_the_page_does_not_show_is_a_failure(tmp_path):
    copy = tmp_path / "openreg/tests/tools/quickstart_steps.py"
    page = tmp_path / "docs/start/quickstart.md"
    for path in (copy, page):
        path.parent.mkdir(parents=True)
    copy.write_text(TOOL.read_text())
    faulty = TEXT.replace("\ntensor([1, 2, 3]", "\ntensor([1, 2, 4]")
    page.write_text(faulty.replace("\n(2, 0)\n", "\n(3, 0)\n"))
    process = run_tool(copy)
    assert process.returncode == 1
    assert "Expected:\n    (3, 0)\nGot:\n    (2, 0)\n" in process.stdout
    assert "Expected:\ntensor([1, 2, 4]" in process.stdout

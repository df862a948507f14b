# The table of what kernels take is right and whole; see docs/operators/structured.md.
"""The host looks into a table instead of trying a kernel, so the table must be true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch_openreg
from patience import PATIENCE
from torch_release import of_the_pages

TESTS = Path(__file__).resolve().parents[1]
ATEN = TESTS.parent / "csrc" / "aten"
LIBRARY = Path(torch_openreg.__file__).parent / "lib" / "libtorch_openreg.so"
MIB = 1 << 20


@of_the_pages  # what kernels take more since then, the device refuses
def test_the_table_is_what_the_kernels_take():
    """The tool tries every kernel with every dtype, and prints what differs."""
    tool = TESTS / "tools" / "kernel_dtypes.py"
    process = subprocess.run(
        [sys.executable, "-W", "ignore", str(tool)],
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        env=os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    )
    assert process.returncode == 0, process.stdout + process.stderr


# -- which kernels are in it --


# Of a row: the line of two literals, and the literals behind it.
ROW = re.compile(r'^     "[^"]*", "[^"]*",\n((?:     "[^"]*"\n?)+)\}', re.MULTILINE)


def entries() -> set[str]:
    """The operators of the table, without the text that some entries end with."""
    text = (ATEN / "kernels" / "KernelDtypesTable.cpp").read_text()
    rows = ROW.findall(text)
    assert len(rows) == text.count("    {")
    names = " ".join(word for row in rows for word in re.findall(r'"([^"]*)"', row))
    return {name.partition(":")[0] for name in names.split()}


# Updates of lists of tensors, whose schemas say all; see Optimizer.h.
LISTS = re.compile(r"_fused_|_amp_")
# The static variable of a function template, of one operator.
OF_TEMPLATE = re.compile(
    r"openreg::(?:overload_of|pointwise|structured_op)<at::_ops::(\w+)[,>]"
)


def of_templates() -> set[str]:
    """What structured(), pointwise() and the stubs look up, in the library itself."""
    command = ["nm", "-C", "--defined-only", str(LIBRARY)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    structs = set(OF_TEMPLATE.findall(text))
    all_names = torch._C._dispatch_get_all_op_names()
    names = [n.removeprefix("aten::") for n in all_names if n.startswith("aten::")]
    found = {name for name in names if name.replace(".", "_") in structs}
    assert len(found) == len(structs) > 200
    return {name for name in found if not LISTS.match(name)}


# Literals that name an operator in a file whose kernels are named by a variable, but no
# kernel: for errors, and of operators that are made of others.
NO_KERNELS = {"_unique", "equal", "prod", "trace"}
CALL = re.compile(r"(?:launch_out(?:_as)?|(?<!void )in_place)\(\s*([^,]+),")


def of_calls() -> set[str]:
    """What launch_out(), launch_out_as() and in_place() look up."""
    operators = {
        name.removeprefix("aten::").partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
    }
    found = set()
    for path in sorted(ATEN.rglob("*.cpp")):
        text = path.read_text()
        called = CALL.findall(text)
        found |= {name.strip('"') for name in called if re.fullmatch(r'"\w+"', name)}
        if any(not name.startswith('"') for name in called):
            found |= set(re.findall(r'"(\w+)"', text)) & operators - NO_KERNELS
    assert len(found) > 70
    return found


def test_each_kernel_has_an_entry_and_each_entry_a_kernel():
    needed = of_templates() | of_calls()
    assert {"mul.Tensor", "logical_and", "flip", "unique_dim"} <= needed
    assert needed - entries() == set()
    assert entries() - needed == set()


# -- what looking into it costs --

# Each operator is called for the first time, and in a thread that has called none. Here
# are operators whose function in the CPU's library writes to a given output.
PROGRAM = """
import re, threading, torch
MIB = 1 << 20
count = {size} * MIB // 4
x, y, mask = (torch.ones(count // 1024, 1024, device="openreg") for _ in range(3))
mask = mask.bool()
spare = [torch.ones(count // 1024, 1024, device="openreg") for _ in range(2)]
del spare                         # the allocator keeps this memory for the results
torch.accelerator.synchronize()   # by now all memory of the device was written

def peak():  # of this program; getrusage() may count the process that started it
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) // 1024

calls = {{
    "mul": lambda: x * y,
    "sqrt": lambda: x.sqrt(),
    "where": lambda: torch.where(mask, x, y),
    "cumsum": lambda: x.cumsum(0),
    "softmax": lambda: x.softmax(1),
    "max_pool2d": lambda: torch.nn.functional.max_pool2d(x.view(1, 1, -1, 1024), 2),
    "clamp": lambda: x.clamp(0, 1),
    "logical_and": lambda: x.logical_and(y),
    "cpu": lambda: x.cpu(),
}}
for name, call in calls.items():
    before = peak()
    def work():
        result = call()
        torch.accelerator.synchronize()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(name, peak() - before)
"""


def test_a_first_call_takes_no_memory_of_the_host(run_python):
    # MiB of each tensor. Not 2 GiB: the device's memory is the host's here, and the
    # program has five such tensors, more than many machines of a CI have. What a first
    # call takes would grow with the size, so this one shows it as well.
    size = 128
    process = run_python(PROGRAM.format(size=size))
    grown = dict(line.split() for line in process.stdout.splitlines())
    assert len(grown) == 9, process.stderr
    large = {name: int(mib) for name, mib in grown.items() if int(mib) > size // 8}
    assert large.keys() == {"cpu"}  # the measurement sees what is there to see
    assert large["cpu"] > size * 0.9


@pytest.mark.parametrize("call", [torch.mul, torch.logical_and, torch.hypot])
def test_a_shape_does_not_matter_to_the_table(call):
    """A dtype is refused, or computed, with and without elements."""
    for shape in ((0,), (), (3, 1)):
        x = torch.ones(shape, dtype=torch.float8_e5m2, device="openreg")
        with pytest.raises(NotImplementedError):
            call(x, x)
    torch.accelerator.synchronize()

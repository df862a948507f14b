# The second device has two rooms and nothing else; see docs/opencl/cost.md.
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DEVICE = ROOT / "openreg/devices/opencl"
sys.path[:0] = [str(DEVICE), str(ROOT / "openreg"), str(ROOT / "openreg/tests/tools")]

from cloning.contents import texts_of  # noqa: E402
from cloning.spelling import Spelling  # noqa: E402
from make_backend import make_backend  # noqa: E402
from opencl_days import DAYS, kernels  # noqa: E402

SOURCES = [path for path in DEVICE.rglob("*") if path.suffix in (".cpp", ".h")]
# The drop-in stands in for the simulated driver, and the driver's tests run on it.
STAND_IN = (DEVICE / "driver/drop_in", DEVICE / "driver/tests")
REAL = [path for path in SOURCES if not {*STAND_IN} & {*path.parents}]
# Functions of the simulated driver alone, and its kernels.
SIMULATION = re.compile(r"\borSim\w+|\borKernelAddress\b|kernels/cpu|cpu::launch")
BLOCK = re.compile(
    r"^TORCH_LIBRARY_IMPL\(aten, PrivateUse1, m\) \{\n(.*?)^\}", re.M | re.S
)
REGISTERED = re.compile(r'm\.impl\("([\w.]+)"|structured_or_fall_back\w*<op::(\w+)')
INCLUDED = re.compile(r'^ *#include [<"]((?:csrc|oclrt|openreg|occl)[\w/.]*)', re.M)
# What the kernels may see of the backend: what an operator of a vendor needs.
OF_BACKEND = ("csrc/aten/", "csrc/kernels/", "csrc/runtime/")


def in_folder(name):
    return [path for path in SOURCES if path.is_relative_to(DEVICE / name)]


def test_both_rooms_are_there():
    assert len(in_folder("driver")) > 10
    assert len(in_folder("kernels")) > 10


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_file_uses_nothing_of_the_simulation(path):
    assert SIMULATION.findall(path.read_text()) == []


@pytest.mark.parametrize("path", in_folder("driver"), ids=lambda path: path.name)
def test_the_driver_includes_nothing_of_the_backend(path):
    included = INCLUDED.findall(path.read_text())
    assert [name for name in included if name.startswith("csrc/")] == []


@pytest.mark.parametrize("path", in_folder("kernels"), ids=lambda path: path.name)
def test_a_kernel_includes_headers_of_the_backend_and_of_the_driver(path):
    for name in INCLUDED.findall(path.read_text()):
        assert name.startswith((*OF_BACKEND, "oclrt")), name
        assert name.endswith(".h"), name


def test_an_operator_has_one_kernel():
    """PyTorch would keep the last one, and warn when the backend is loaded."""
    files = [path for path in in_folder("kernels") if path.suffix == ".cpp"]
    texts = [path.read_text() for path in files]
    copied = texts_of(Spelling("ocl", "oclrt"), 8)
    texts += [
        text
        for path, text in copied.items()
        if path.startswith(("csrc/aten/ops/", "csrc/aten/host/", "csrc/aten/Reg"))
    ]
    blocks = [block for text in texts for block in BLOCK.findall(text)]
    found = [name for block in blocks for name in REGISTERED.findall(block)]
    spelled = Counter("".join(match).replace(".", "_") for match in found)
    assert len(spelled) > 200
    assert [name for name, times in spelled.items() if times > 1] == []


def test_nothing_of_the_copy_is_edited_by_hand(tmp_path):
    folder = tmp_path / "torch_ocl"
    make_backend(folder)
    expected = texts_of(Spelling("ocl", "oclrt"), 8)
    rooms = ("third_party/oclrt/", "csrc/kernels/")
    for name, text in expected.items():
        if not name.startswith(rooms):
            assert (folder / name).read_text() == text, name
    written = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    for name in written - set(expected):
        assert name.startswith((*rooms, ".")), name


def test_at_stage_4_the_copy_has_the_driver_alone(tmp_path):
    folder = tmp_path / "torch_ocl"
    make_backend(folder, stage=4)
    assert not list((folder / "csrc/kernels").glob("*.cpp"))
    assert (folder / "third_party/oclrt/CMakeLists.txt").is_file()


@pytest.mark.parametrize("day", DAYS)
def test_a_day_of_the_bring_up_has_what_its_kernels_call(day):
    """A header of the room is of no use without the file that defines its functions."""
    room, chosen = DEVICE / "kernels", kernels(DAYS[day][1])
    included = {
        Path(name).with_suffix(".cpp")
        for path in chosen
        for name in re.findall(
            r'^#include "csrc/kernels/([\w/]+\.h)"', (room / path).read_text(), re.M
        )
    }
    assert {path for path in included if (room / path).is_file()} <= {*chosen}

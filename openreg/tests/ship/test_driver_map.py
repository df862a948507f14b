# The map of the driver is complete, its rule for forks holds; docs/ship/driver-map.md.
import re
import subprocess
from pathlib import Path

import torch_openreg
from torch.utils.hipify.cuda_to_hip_mappings import CUDA_TO_HIP_MAPPINGS

OPENREG = Path(__file__).resolve().parents[2]
PAGE = (OPENREG.parent / "docs/ship/driver-map.md").read_text()
LIBRARIES = Path(torch_openreg.__file__).parent / "lib"
FUNCTION = re.compile(r"(?:or|occl)[A-Z]\w+")
HEAD_OF_LINE = re.compile(r"^\* \*\*[^*]+\*\* \(([^)]+)\)", re.MULTILINE)
ONLY_IN_THE_MANUAL = {"cudaStreamGetDevice"}  # PyTorch has no need to translate it
# They answer in a forked child; the page names them.
ANSWER = {"orGetDriverState", "orGetErrorName", "orGetErrorDetail", "orKernelAddress"}
ANSWER |= {"orKernelFault", "occlGetLastError", "occlGroupStart", "occlGroupEnd"}
NULL_IS_ALLOWED = {"occlCommAbort", "occlCommDestroy"}  # and does nothing


def imported(library):
    """The functions of the driver that a library calls."""
    command = ["readelf", "--dyn-syms", "--wide", str(LIBRARIES / library)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    undefined = re.findall(r"\bUND (\w+)", output)
    return [name for name in undefined if FUNCTION.fullmatch(name)]


def rows():
    """The cells of all tables whose first column is the driver's."""
    yield from rows_of(PAGE)


def rows_of(text):
    for table in re.findall(r"^\| driver \|.*\n(?:\|.*\n)+", text, re.MULTILINE):
        head, _, *lines = table.splitlines()
        for line in lines:
            row = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(row) == head.count("|") - 1, line
            yield row


def listed():
    return [name for row in rows() for name in FUNCTION.findall(row[0])]


def test_the_map_has_each_function_that_the_backend_calls_once():
    called = imported("libtorch_openreg.so")
    assert not imported("libtorch_bindings.so")
    assert len(called) > 70
    assert sorted(listed()) == sorted({*called, *called_by_the_simulator()})


def called_by_the_simulator():
    """What only tests call, from Python."""
    text = (OPENREG / "torch_openreg/simulator.py").read_text()
    section = PAGE.partition("\n## Simulator")[2]
    names = {name for row in rows_of(section) for name in FUNCTION.findall(row[0])}
    assert names == set(FUNCTION.findall(text)) - ANSWER
    return names


def test_no_cell_is_empty():
    assert all(all(row) for row in rows())


def test_each_function_has_a_line_for_drivers_without_it():
    checked = 0
    for section in PAGE.split("\n## ")[1:]:
        if section.startswith("Simulator"):
            assert "so delete it and its import" in section
            continue
        functions = {
            name for row in rows_of(section) for name in FUNCTION.findall(row[0])
        }
        heads = " ".join(HEAD_OF_LINE.findall(section))
        assert set(FUNCTION.findall(heads)) == functions, section.partition("\n")[0]
        checked += len(functions)
    assert checked > 60


def test_the_names_in_hip_follow_the_rule_of_the_page():
    known = {name: to for table in CUDA_TO_HIP_MAPPINGS for name, to in table.items()}
    found, exceptions, missing = set(), set(), set()
    for row in rows():
        for name in re.findall(r"`(cuda[A-Z]\w+)", " ".join(row[4:])):
            found.add(name)
            hip = known.get(name)
            hip = hip if isinstance(hip, str) or hip is None else hip[0]
            if hip is None:
                missing.add(name)
            elif hip != name.replace("cuda", "hip", 1):
                exceptions.add(name)
                assert f"`{hip}`" in row[4].partition("HIP: ")[2], name
    assert len(found) > 40
    assert missing == ONLY_IN_THE_MANUAL
    assert exceptions == {"cudaMallocHost", "cudaFreeHost"}


def test_what_is_said_to_be_missing_is_in_the_header():
    headers = (OPENREG / "third_party/openreg/include").glob("*.h")
    declared = "".join(path.read_text() for path in headers)
    assert all(f"{name}(" in declared for name in listed())


# Each function is called with zeros, which the driver must not come to read.
IN_A_CHILD = """
import ctypes, os, warnings
import torch
warnings.simplefilter("ignore")
torch.ones(1, device="openreg")
driver = ctypes.CDLL({library!r})
if (child := os.fork()) == 0:
    for name in {names}:
        print(name, getattr(driver, name)(*[ctypes.c_void_p(0)] * 8), flush=True)
    os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_in_a_forked_child_each_function_fails_at_once(run_forked):
    names = [name for name in listed() if name not in ANSWER | NULL_IS_ALLOWED]
    library = str(LIBRARIES / "libopenreg.so")
    process = run_forked(IN_A_CHILD.format(library=library, names=names))
    assert process.returncode == 0, process.stderr
    codes = dict(line.split() for line in process.stdout.splitlines())
    assert list(codes) == names
    assert "0" not in codes.values(), codes


def test_the_page_names_those_that_answer_there():
    rule = PAGE.partition("In a forked child, `")[2].partition("\n\n")[0]
    assert set(FUNCTION.findall(f"`{rule}")) == ANSWER

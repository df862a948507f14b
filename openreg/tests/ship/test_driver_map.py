# The map of the driver is complete, its rule for forks holds; docs/ship/driver-map.md.
import re
import subprocess
from pathlib import Path

import torch_openreg

OPENREG = Path(__file__).resolve().parents[2]
PAGE = (OPENREG.parent / "docs/ship/driver-map.md").read_text()
LIBRARIES = Path(torch_openreg.__file__).parent / "lib"
FUNCTION = re.compile(r"(?:or|occl)[A-Z]\w+")
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
    for table in re.findall(r"^\| driver \|.*\n(?:\|.*\n)+", PAGE, re.MULTILINE):
        head, _, *lines = table.splitlines()
        for line in lines:
            row = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(row) == head.count("|") - 1, line
            yield row


def listed():
    return [name for row in rows() for name in FUNCTION.findall(row[0])]


def test_the_map_has_each_function_that_the_backend_calls_once():
    called = {*imported("libtorch_openreg.so"), *imported("libtorch_bindings.so")}
    assert len(called) > 70
    assert sorted(listed()) == sorted(called)


def test_no_cell_is_empty():
    assert all(all(row) for row in rows())


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

# What the backend keeps outlives its static objects; see docs/operators/fallback.md.
"""While a process exits, its C++ threads go on.

So an object that they use must not be destroyed: static objects of the backend have no
destructors that matter, or are made with ``new`` and never deleted.
"""

import re
import subprocess
from bisect import bisect_right
from pathlib import Path

import pytest
import torch_openreg
from starter_build import install_starter, run_on_starter

LIBRARIES = Path(torch_openreg.__file__).parent / "lib"
NAMES = ("libtorch_openreg.so", "libopenreg.so")

# Loads the backend when `last_at_exit` has registered its handler.
PROGRAM = """
import ctypes, sys, torch
last = ctypes.CDLL({last!r})
torch._import_device_backends()
uses = ctypes.CDLL({uses!r})
streams = [torch.openreg.Stream() for _ in range(40)]  # each of the pool
x = torch.rand(4, device="openreg")
for _ in range(3):
    x.hypot(x)
torch.empty(4, pin_memory=True)
torch.openreg.manual_seed(2026)
last.run_last(uses.use_the_backend)
"""


def test_threads_use_the_backend_while_the_process_exits(run_forked, compile_cpp):
    program = PROGRAM.format(
        last=str(compile_cpp("last_at_exit", backend=False)),
        uses=str(compile_cpp("uses_at_exit")),
    )
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert process.stdout.splitlines() == [
        "fallbacks 3",
        "generator 0 seed 2026",
        "key openreg_memory_fraction",
        "reset 0",
    ], process.stderr
    assert process.returncode == 0


# -- no static object has a destructor --


class Symbols:
    """Names of the places of a library."""

    def __init__(self, library: Path) -> None:
        command = ["nm", "-C", "--defined-only", str(library)]
        text = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = [line.split(None, 2) for line in text.stdout.splitlines()]
        self._places = sorted((int(line[0], 16), line[2]) for line in lines)

    def name(self, place: int) -> str:
        return self._places[bisect_right(self._places, (place, "\uffff")) - 1][1]


# Of torch's headers: takes operators back, and types that only a registration needs.
OF_TORCH = (
    r"TORCH_LIBRARY(_IMPL|_FRAGMENT)?_static_init_\w+"
    r"|^c10::detail::get(MaybeFake)?TypePtr_<.*>::call\(\)::\w+$"
)


def test_static_objects_have_no_destructors(run_python, compile_cpp):
    """Those that exist when the libraries are loaded."""
    handlers = compile_cpp("exit_handlers", backend=False)
    process = run_python("import torch", LD_PRELOAD=str(handlers))
    assert _destroyed(process, [LIBRARIES / name for name in NAMES]) == {}


def test_static_objects_of_the_starter_have_no_destructors(compile_cpp):
    site = install_starter()
    handlers = compile_cpp("exit_handlers", backend=False)
    process = run_on_starter(site, "import torch", LD_PRELOAD=str(handlers))
    libraries = list(site.rglob("lib*.so"))
    assert len(libraries) >= 2
    assert _destroyed(process, libraries) == {}


def _destroyed(process, libraries):
    """Return which static objects of ours are destroyed, and by what."""
    assert process.returncode == 0, process.stderr
    symbols = {str(library): Symbols(library) for library in libraries}
    destroyed = {}
    for line in process.stdout.splitlines():
        _, library, place, other, code = line.split()
        what = symbols[library].name(int(place, 16))
        if other in symbols:
            destroyed[what] = symbols[other].name(int(code, 16))
    assert any(re.search(OF_TORCH, what) for what in destroyed)
    return {w: d for w, d in destroyed.items() if not re.search(OF_TORCH, w)}


# Variables of a thread. They must bear that their thread uses them after their end.
OF_THREADS = {
    "ActivityLog::ids": "a profile that is stopped by then has left nothing in it",
    "cpu::allocate_arguments": "its destructor leaves an empty list",
}


@pytest.mark.parametrize("library", NAMES)
def test_variables_of_functions_have_no_destructors(library):
    """Those that the first call of a function makes: whether or not a test calls it."""
    command = ["objdump", "-dC", "--no-show-raw-insn", str(LIBRARIES / library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    function = ""
    for line in text.splitlines():
        if line.endswith(">:"):
            function = line.partition("<")[2][:-2]
        elif "__cxa_atexit" in line or "__cxa_thread_atexit" in line:
            found.append((function, "thread_atexit" in line))
    assert len(found) > (100 if library == NAMES[0] else 1)
    ours = {(name, t) for name, t in found if name.startswith("openreg::")}
    left = {n for n, of_thread in ours if not of_thread}
    left |= {n for n, _ in ours if not any(f"openreg::{f}(" in n for f in OF_THREADS)}
    assert left == set()
    if library == NAMES[0]:  # no exception is left over
        assert all(any(f"openreg::{f}(" in n for n, _ in ours) for f in OF_THREADS)

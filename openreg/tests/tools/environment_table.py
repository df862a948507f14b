# Writes docs/reference/environment.md: which file reads which environment variable.
"""Finds the variables that the sources read; run it to write the page.

python openreg/tests/tools/environment_table.py

What a variable does stands in ROWS; who reads it is found. For variables of torch,
TORCH names the file of the installed torch that reads them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/reference/environment.md"
BACKEND = ["openreg/csrc", "openreg/third_party/openreg/csrc", "openreg/torch_openreg"]
BACKEND += ["openreg/torch_openreg_diagnose"]
TOOLS = ["setup.py", "noxfile.py", "openreg/starter", "openreg/new_backend.py", "docs"]
TOOLS += ["openreg/cloning", "openreg/benchmarks", "tests", "openreg/tests/support"]
READ = re.compile(
    r"(?:\bgetenv\(|\b(?:get|check)_env\(|\breadVariable\(|\bgetCvar\w+\(\{|\benviron(?:\.get\(|\[))"
    r"\s*(?:[\"'](?P<text>\w+)[\"']|(?P<constant>[A-Z]\w+))(?=(?P<behind>[^\n]{0,4}))"
)
WRITTEN = re.compile(r"\]\s*=[^=]")  # an assignment reads nothing
CONSTANT = r'^{}(?:: \w+)? = "(\w+)"'


class Row(NamedTuple):
    """What a reader wants to know of a variable, besides who reads it."""

    default: str
    does: str
    page: str = ""
    readme: bool = False


ROWS = {
    "OPENREG_DEVICE_COUNT": Row(
        "`2`", "number of devices, 0 to 64", "runtime/device.md", True
    ),
    "OPENREG_DEVICE_MEMORY": Row(
        "`8G`",
        "memory of one device, 1M to 1024G; only what is used costs memory",
        "ship/make-it-yours.md",
        True,
    ),
    "OPENREG_STEAL": Row(
        "`1`",
        "`0`: only worker threads run tasks, never a thread that waits",
        "start/architecture.md",
        True,
    ),
    "OPENREG_LAUNCH_BLOCKING": Row(
        "`0`",
        "`1`: every launch returns after the kernel has run, for debugging",
        "runtime/faults.md",
        True,
    ),
    "OPENREG_SIM_DELAY": Row(
        "`0`",
        "microseconds that every task waits before it starts, at most 10000000; "
        "`200:7`: random times up to that, seed 7",
        "ship/robustness.md",
        True,
    ),
    "OPENREG_DRIVER": Row(
        "the one in the wheel",
        "path of the driver's library, `libopenreg.so`",
        "ship/packaging.md",
        True,
    ),
    "OPENREG_FALLBACK": Row(
        "`allow`",
        "`warn` or `error` when an operator would fall back to the CPU",
        "operators/fallback.md",
        True,
    ),
    "TORCH_FR_BUFFER_SIZE": Row(
        "`2000`",
        "how many operations the flight recorder keeps; 0: none",
        "modules/distributed-debugging.md",
    ),
    "TORCH_DIST_NAN_CHECK": Row(
        "`0`",
        "`1` looks for NaN before each collective",
        "modules/distributed-debugging.md",
    ),
    "OPENREG_INDUCTOR": Row(
        "`loops`",
        "`triton`: Inductor generates Triton kernels instead of C++ loops",
        "modules/compile-inductor.md",
        True,
    ),
    "OCCL_SHM_DISABLE": Row(
        "`0`",
        "`1`: this rank uses no shared memory, so its group uses the network plug-in",
        "modules/distributed-library.md",
        True,
    ),
    "CMAKE_ARGS": Row(
        "empty", "more arguments for CMake, such as `-DOPENREG_WERROR=ON`"
    ),
    "MAX_JOBS": Row(
        "one for each core", "compilers that run at a time", "ship/known-crashes.md"
    ),
    "CXX": Row("`c++`", "the compiler"),
    "CXXFLAGS": Row("empty", "flags of the compiler, for the builds of the tests"),
    "PATH": Row("set by the system", "where programs are found"),
    "PYTHONPATH": Row("empty", "where Python finds modules, besides its own folders"),
    "PYENV_ROOT": Row("`~/.pyenv`", "where `nox -s tests-on` looks for other Pythons"),
    "TEST_DEVICE": Row(
        "`openreg`",
        "the device that the portable tests run on",
        "start/first-backend.md",
    ),
    "TEST_STAGE": Row(
        "`9`",
        "the last stage of the ladder that this device has",
        "start/first-backend.md",
    ),
    "OPENREG_SITE": Row("`build/site`", "the rendered guide that browser tests open"),
    "OPENREG_SITE_URL": Row(
        "that of `pyproject.toml`", "the public address of the guide"
    ),
    "OCL_ICD_VENDORS": Row(
        "`/etc/OpenCL/vendors`",
        "where the loader finds OpenCL implementations",
        "opencl/driver.md",
    ),
    "OPENREG_CHROMIUM": Row("the first one on `PATH`", "the browser of these tests"),
}


class TorchRow(NamedTuple):
    """A variable of torch: the file of its wheel, and what it is without a setting."""

    file: str
    default: str
    does: str
    page: str


TORCH = {
    "TORCH_DEVICE_BACKEND_AUTOLOAD": TorchRow(
        "__init__.py",
        "`1`",
        "any other value: `import torch` loads no backend",
        "frontend/autoload.md",
    ),
    "PYTORCH_ALLOC_CONF": TorchRow(
        "lib/libc10.so",
        "empty",
        "settings of the caching allocators; sizes are in MiB",
        "runtime/memory-settings.md",
    ),
    "TORCH_LOGS": TorchRow(
        "_logging/_internal.py",
        "empty",
        "which loggers print, such as `+openreg`",
        "frontend/naming.md",
    ),
    "TORCH_CPP_LOG_LEVEL": TorchRow(
        "lib/libc10.so",
        "`WARNING`",
        "the least level of C++ messages: `INFO`, `WARNING`, `ERROR`, `FATAL`",
        "modules/distributed-library.md",
    ),
    "TORCH_DISTRIBUTED_DEBUG": TorchRow(
        "lib/libtorch_cpu.so",
        "`OFF`",
        "`DETAIL` compares collectives before they run",
        "modules/distributed-failures.md",
    ),
    "GLOO_SOCKET_IFNAME": TorchRow(
        "lib/libtorch_cpu.so",
        "empty",
        "the network interface of Gloo, which the plug-in uses",
        "modules/distributed-groups.md",
    ),
    "LOCAL_RANK": TorchRow(
        "distributed/device_mesh.py",
        "set by `torchrun`",
        "the index of the device that a device mesh makes current",
        "reference/device-module-table.md",
    ),
    "TORCHINDUCTOR_CACHE_DIR": TorchRow(
        "_inductor/runtime/cache_dir_utils.py",
        "a folder for temporary files",
        "where Inductor keeps compiled kernels",
        "modules/compile-wrapper.md",
    ),
    "TORCH_SHOW_DISPATCH_TRACE": TorchRow(
        "lib/libtorch_cpu.so",
        "`0`",
        "`1` prints each call of the dispatcher, in debug builds of torch",
        "ship/debugging.md",
    ),
    "PYTORCH_TESTING_DEVICE_ONLY_FOR": TorchRow(
        "testing/_internal/common_device_type.py",
        "empty",
        "device types for which test classes are made, with commas",
        "ship/testing.md",
    ),
    "PYTORCH_TESTING_DEVICE_EXCEPT_FOR": TorchRow(
        "testing/_internal/common_device_type.py",
        "empty",
        "device types for which none are made",
        "ship/testing.md",
    ),
    "PYTORCH_TESTING_DEVICE_FOR_CUSTOM": TorchRow(
        "testing/_internal/common_device_type.py",
        "empty",
        "`privateuse1` adds the device to tests that name other devices",
        "ship/testing.md",
    ),
    "TORCH_TEST_DEVICES": TorchRow(
        "testing/_internal/common_device_type.py",
        "empty",
        "files with a base class for tests, separated by colons",
        "ship/testing.md",
    ),
}

HEAD = """\
# Environment variables

This page lists what the driver, the backend, torch, the build and the tools read from
the environment, with default, unit and reader.
`openreg/tests/tools/environment_table.py` finds the readers, and tests compare this
page with the sources, the README and the installed torch.

Most variables are read only once, when they are first needed, so set them before you
start the program.
"""


def _sources(places: list[str]) -> list[Path]:
    found: list[Path] = []
    for place in places:
        path = ROOT / place
        files = path.rglob("*") if path.is_dir() else [path]
        found += [file for file in files if file.suffix in (".py", ".cpp", ".h")]
    return sorted(found)


def reads(text: str) -> set[str]:
    """The variables that a source reads."""
    names = set()
    for found in READ.finditer(text):
        name = found["text"]
        if found["constant"]:
            pattern = CONSTANT.format(re.escape(found["constant"]))
            value = re.search(pattern, text, re.MULTILINE)
            name = value[1] if value else found["constant"]
        if not WRITTEN.match(found["behind"]):
            names.add(name)
    return names


def readers(places: list[str]) -> dict[str, list[str]]:
    """Each variable with the files that read it."""
    found: dict[str, list[str]] = {}
    for path in _sources(places):
        name = path.relative_to(ROOT).as_posix()
        if path.name.startswith("test_"):
            continue  # a test sets what it tests
        for variable in reads(path.read_text(encoding="utf-8")):
            found.setdefault(variable, []).append(name)
    return found


def _table(lines: list[list[str]]) -> str:
    head = ["variable", "default", "what it does", "read in", "page"]
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _link(page: str) -> str:
    if not page:
        return ""
    title = (ROOT / "docs" / page).read_text().partition("\n")[0].removeprefix("# ")
    return f"[{title}](../{page})"


def _own(found: dict[str, list[str]]) -> str:
    lines = []
    for name in sorted(found, key=list(ROWS).index):
        row = ROWS[name]
        files = ", ".join(f"`{file}`" for file in found[name])
        lines.append([f"`{name}`", row.default, row.does, files, _link(row.page)])
    return _table(lines)


def page() -> str:
    """Return the text of the page."""
    backend, tools = readers(BACKEND), readers(TOOLS)
    backend = {name: files for name, files in backend.items() if name not in TORCH}
    tools = {name: files for name, files in tools.items() if name not in backend}
    torch = [
        [f"`{name}`", row.default, row.does, f"`torch/{row.file}`", _link(row.page)]
        for name, row in TORCH.items()
    ]
    parts = [HEAD, "## Of the driver and the backend\n", _own(backend)]
    parts += ["## Of torch\n", _table(torch)]
    parts += ["## Of the build, the tests and the guide\n", _own(tools)]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())

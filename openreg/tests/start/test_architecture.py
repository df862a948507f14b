# Each layer uses only the next one; chapter docs/start/architecture.md.
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch_openreg

PACKAGE = Path(torch_openreg.__file__).parent
OPENREG = Path(__file__).resolve().parents[2]
DRIVER_API = OPENREG / "third_party/openreg/include"
START = OPENREG.parent / "docs" / "start"
PAGES = [START / "architecture.md", OPENREG.parent / "docs/frontend/autoload.md"]
PAGES += [OPENREG / "csrc/README.md"]
PAGE = "\n".join(page.read_text() for page in PAGES)
TORCH = Path(torch.__file__).parent

C, BINDINGS = "_C.so", "libtorch_bindings.so"
CORE, DRIVER = "libtorch_openreg.so", "libopenreg.so"
LAYERS = [C, BINDINGS, CORE, DRIVER]


def file_of(name):
    pattern = "_C.*.so" if name == C else f"lib/{name}"
    (file,) = PACKAGE.glob(pattern)
    return file


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dynamic(name, tag):
    """Values of one tag of the dynamic section, such as NEEDED."""
    text = output_of("readelf", "--dynamic", "--wide", str(file_of(name)))
    return re.findall(rf"\({tag}\).*\[(.*)\]", text)


def functions(name, *, defined):
    """Names of the functions that an object exports, or takes from others."""
    which = "--defined-only" if defined else "--undefined-only"
    lines = output_of("nm", "--dynamic", which, str(file_of(name))).splitlines()
    fields = [line.split() for line in lines]
    return {field[-1].partition("@")[0] for field in fields if field[-2] in "TU"}


def sources(folder):
    found = [
        path for path in (OPENREG / folder).rglob("*") if path.suffix in (".cpp", ".h")
    ]
    assert found, folder
    return found


def includes(folder):
    pattern = re.compile(r'^\s*#\s*include\s*[<"](.+?)[>"]', re.MULTILINE)
    return {
        name for path in sources(folder) for name in pattern.findall(path.read_text())
    }


def rows(first_column):
    """Rows of the table on the page that starts with this column, as lists of cells."""
    table = PAGE.partition(f"\n| {first_column} |")[2].partition("\n\n")[0]
    lines = table.splitlines()[2:]
    assert lines, f"the page has no table that starts with {first_column!r}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


# -- what they link --


@pytest.mark.parametrize("row", rows("object"), ids=lambda row: row[0])
def test_the_page_tells_what_each_object_links(row):
    name = quoted(row[0])[0]
    needed = dynamic(name, "NEEDED")
    torchs = [lib for lib in needed if (TORCH / "lib" / lib).exists()]
    assert [lib for lib in needed if lib in LAYERS] == quoted(row[2])
    assert sorted(torchs) == sorted(quoted(row[3]))


def test_each_object_links_the_next_and_no_other():
    assert [quoted(row[0])[0] for row in rows("object")] == LAYERS
    assert [quoted(row[2]) for row in rows("object")] == [
        [BINDINGS],
        [CORE],
        [DRIVER],
        [],
    ]


@pytest.mark.parametrize("name", [CORE, DRIVER])
def test_no_python_below_the_bindings(name):
    assert not [lib for lib in dynamic(name, "NEEDED") if "python" in lib]
    assert not {s for s in functions(name, defined=False) if re.match(r"_?Py[A-Z_]", s)}


def test_the_driver_links_nothing_but_the_system():
    allowed = r"libstdc\+\+|libgcc_s|libc|libm|libpthread|librt|ld-linux-[\w-]+"
    for lib in dynamic(DRIVER, "NEEDED"):
        assert re.fullmatch(rf"({allowed})\.so\.\d", lib), lib


def test_only_the_core_calls_the_driver():
    driver = functions(DRIVER, defined=True)
    assert functions(CORE, defined=False) & driver
    for name in (C, BINDINGS):
        assert not functions(name, defined=False) & driver


def test_objects_are_found_beside_each_other():
    assert dynamic(C, "RUNPATH") == ["$ORIGIN/lib"]
    for name in (BINDINGS, CORE, DRIVER):
        assert dynamic(name, "RUNPATH") == ["$ORIGIN"]


# -- what they export --


def test_the_driver_exports_its_headers_and_nothing_else():
    headers = sorted((OPENREG / "third_party/openreg/include").glob("*.h"))
    text = "\n".join(header.read_text() for header in headers)
    declared = set(
        re.findall(r"^OPENREG_API [^;(]*?((?:or|occl)[A-Z]\w+)\(", text, re.MULTILINE)
    )
    assert functions(DRIVER, defined=True) == declared
    symbols = output_of("nm", "--dynamic", "--defined-only", str(file_of(DRIVER)))
    assert {line.split()[-1] for line in symbols.splitlines()} == declared


def test_the_glue_exports_one_function():
    assert functions(C, defined=True) == {"PyInit__C"}
    assert functions(BINDINGS, defined=True) == {"initOpenRegModule"}


def test_the_core_exports_only_its_namespace():
    assert all("openreg" in symbol for symbol in functions(CORE, defined=True))


# -- what they include --


# The headers below torch/csrc are for Python, but for these of libtorch_cpu.
WITHOUT_PYTHON = (
    r"autograd/(autograd|custom_function|functions/utils)\.h"
    r"|jit/serialization/pickler_helper\.h"
    r"|distributed/c10d/(Backend|GroupRegistry|PrefixStore|ProcessGroup|Store|Types|Work"
    r"|reducer_timer|symm_mem/SymmetricMemory)\.hpp"
    r"|profiler/(standalone/privateuse1_(observer|profiler)|stubs/base)\.h"
    r"|profiler/combined_traceback\.h"
)


def test_the_core_never_includes_python():
    python = rf"Python\.h|pybind11/|torch/csrc/(?!{WITHOUT_PYTHON})|torch/extension\.h"
    for name in includes("csrc"):
        assert not re.match(python, name), name


def test_the_driver_never_includes_torch():
    for name in includes("third_party/openreg"):
        assert not re.match(r"torch/|ATen/|c10/|Python\.h|pybind11/|csrc/", name), name


def test_the_glue_includes_the_driver_only_through_the_core():
    headers = {path.name for path in DRIVER_API.glob("*.h")}
    assert headers >= {"occl.h", "openreg.h", "openreg_graph.h", "openreg_ipc.h"}
    assert not headers & set(includes("torch_openreg/csrc"))


# -- loading --

LOAD = """
import ctypes, os, sys
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
import torch
ctypes.CDLL(sys.argv[1])
print("loaded")
"""


def load(file):
    return subprocess.run(
        [sys.executable, "-c", LOAD, str(file)], capture_output=True, text=True
    )


@pytest.mark.parametrize("name", [BINDINGS, CORE, DRIVER])
def test_each_library_loads_from_any_folder_and_names_what_is_missing(name, tmp_path):
    needed = LAYERS[LAYERS.index(name) :]
    for lib in needed:
        shutil.copy(file_of(lib), tmp_path)
    assert load(tmp_path / name).stdout == "loaded\n"
    for lib in needed[1:]:
        (tmp_path / lib).unlink()
        process = load(tmp_path / name)
        assert process.returncode != 0
        assert f"{lib}: cannot open shared object file" in process.stderr
        shutil.copy(file_of(lib), tmp_path)


# -- the other tables of the page --


@pytest.mark.parametrize("row", rows("PyTorch concept"), ids=lambda row: row[0])
def test_the_file_map_names_files_that_exist(row):
    for ours in quoted(row[1]):
        assert any(list((OPENREG / folder).glob(ours)) for folder in ("csrc", "."))
    for header in quoted(row[2]):
        if header.endswith((".h", ".hpp")):
            assert (TORCH / "include" / header).is_file()


@pytest.mark.parametrize("row", rows("what"), ids=lambda row: row[0])
def test_the_page_tells_where_each_piece_is_registered(row):
    (call,) = quoted(row[1])
    for file in quoted(row[2]):
        assert call in (OPENREG / "csrc" / file).read_text()


# -- several files as one --


def test_no_two_files_give_one_name_to_different_things():
    """A wheel compiles ten files as one, and a new file moves the borders."""
    owner = {}
    define = re.compile(
        r"^(?:const(?:expr)? [\w:<>]+ (k?\w+)(?:\{| =|\()"
        r"|(?!return|else)[\w:<>&* ]+? (\w+\([^;{]*?\))(?: const)? \{$)",
        re.MULTILINE,
    )
    for path in sorted((OPENREG / "csrc").rglob("*.cpp")):
        inside = re.findall(
            r"^namespace \{$(.*?)^\}  // namespace$",
            path.read_text(),
            re.DOTALL | re.MULTILINE,
        )
        for constant, function in define.findall("\n".join(inside)):
            name = " ".join((constant or function).split())
            where = f"{path.name} and {owner.setdefault(name, path).name}"
            assert owner[name] == path, f"{name} is in {where}"
    assert len(owner) > 300

# No two parts of the backend define one name; see docs/start/architecture.md.
"""All shared objects of the backend are one program to the C++ standard.

Two classes of one name in it are undefined behavior, also where the linker does not
see them: whichever inline function or table of virtual functions is found first serves
both.
"""

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import torch_openreg

OPENREG = Path(__file__).resolve().parents[2]
LIBRARIES = Path(torch_openreg.__file__).parent / "lib"
CORE, BINDINGS, DRIVER = "libtorch_openreg.so", "libtorch_bindings.so", "libopenreg.so"
FOLDERS = ("csrc", "torch_openreg/csrc", "third_party/openreg/csrc")

OPENS = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{")
CLOSES = re.compile(r"^\}  // namespace")
DEFINES = re.compile(
    r"^(?:class|struct|union|enum(?: class)?) (?:OPENREG_EXPORT )?"
    r"([\w:]*\w)(?![\w<])[^;]*$"
)


def types_in(text: str) -> list[str]:
    """Full names of the classes that a file defines, and that other files could name.

    clang-format keeps what stands in a namespace, and in no class, at the first column.
    """
    spaces: list[str | None] = []  # None: without a name, so of this file alone
    found = []
    for line in text.splitlines():
        if opens := OPENS.match(line):
            spaces.append(opens[1])
        elif CLOSES.match(line):
            spaces.pop()
        elif (defines := DEFINES.match(line)) and None not in spaces:
            found.append("::".join([*map(str, spaces), defines[1]]))
    assert not spaces, "a namespace without the comment that closes it"
    return found


def files_of_types() -> dict[str, set[str]]:
    files = defaultdict(set)
    for folder in FOLDERS:
        for path in sorted((OPENREG / folder).rglob("*.[ch]*")):
            for name in types_in(path.read_text()):
                files[name].add(f"{folder}/{path.name}")
    return files


def test_each_class_has_one_definition():
    files = files_of_types()
    assert {"openreg::Capture", "openreg::driver::Capture"} <= files.keys()
    assert len(files) > 50
    assert {n: sorted(f) for n, f in files.items() if len(f) > 1} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("namespace a::b {\nstruct C final : public D {", ["a::b::C"]),
        ("namespace a {\nclass OPENREG_EXPORT C {\n  struct D {", ["a::C"]),
        ("namespace a {\nenum class C : char {", ["a::C"]),
        ("namespace a {\ntemplate <class T>\nstruct C : public\n", ["a::C"]),
        ("namespace a {\nstruct C::D {", ["a::C::D"]),
        ("namespace a {\nclass C;\nstruct D<int> {", []),
        ("namespace a {\nnamespace {\nclass C {\n}  // namespace", []),
    ],
)
def test_the_scan_finds_definitions(text, names):
    assert types_in(text + "\n}  // namespace" * text.count("namespace a")) == names


def symbols(library: str) -> set[str]:
    """Mangled names of what a library defines, also of what it does not export."""
    command = ["nm", "--defined-only", str(LIBRARIES / library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in text.splitlines()}


@pytest.mark.parametrize("library", [CORE, BINDINGS])
def test_no_function_of_the_driver_is_defined_again(library):
    """Finds functions, templates over classes, and classes with virtual functions."""
    inner = {name for name in symbols(DRIVER) if "7openreg" in name}
    assert any("7openreg6driver7Capture" in name for name in inner)
    other = {name for name in symbols(library) if "7openreg" in name}
    assert len(other) > 20
    assert not {name for name in other & inner if "_GLOBAL__N_" not in name}

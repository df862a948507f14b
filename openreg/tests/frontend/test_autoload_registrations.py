# What the libraries register while they are loaded; see
# docs/frontend/import-orders.md.
"""No static initializer may throw: that would end the program with `import torch`."""

import re
from pathlib import Path

import pytest

OPENREG = Path(__file__).resolve().parents[2]
FOLDERS = ("csrc", "torch_openreg/csrc", "third_party/openreg/csrc")
SOURCES = [
    path for folder in FOLDERS for path in sorted((OPENREG / folder).rglob("*.cpp"))
]
SOURCES += sorted((OPENREG / "torch_openreg/csrc").glob("*.h"))  # parts of Module.cpp

# What a registration calls throws if somebody else was there first, or replaces it.
THROW = {
    "the allocator's settings": "owners.own_key(b'openreg_memory_fraction')",
    "the class of storages": "owners.own_storages()",
    "the hooks": "ctypes.CDLL({hooks!r})",
    "the saving of tags": "owners.own_tags()",
}
REPLACE = {"the allocator", "the profiler's events"}


def test_the_registrations_are_those_of_the_sources():
    text = "".join(path.read_text() for path in SOURCES)
    found = re.findall(r'^const Registration \w+\(\s*"([^"]+)"', text, re.MULTILINE)
    assert sorted(found) == sorted({*THROW, *REPLACE})


@pytest.mark.parametrize("what", THROW)
def test_another_owner_is_an_import_error(what, compile_cpp, run_forked):
    owners = str(compile_cpp("other_owners", backend=False))
    hooks = str(compile_cpp("other_owner", backend=False))
    program = f"""
        import ctypes
        import torch
        owners = ctypes.CDLL({owners!r})
        {THROW[what].format(hooks=hooks)}
        try:
            import torch_openreg
        except ImportError as error:
            print(error)
        print(torch.ones(2))
    """
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert process.returncode == 0, process.stderr  # not a signal
    said, works = process.stdout.splitlines()
    assert said.startswith(f"openreg: cannot register {what} with torch: ")
    assert works == "tensor([1., 1.])"  # torch goes on without the backend


# -- no other static object calls torch --

# Macros of torch that make a static object, and why its initializer does not throw.
MACROS = {
    "DECLARE_DISPATCH": "declares only",
    "PYBIND11_DECLARE_HOLDER_TYPE": "declares only",
    "C10_REGISTER_GUARD_IMPL": "replaces the guard that was there",
    "C10_REGISTER_TYPED_CLASS": "refuses only another backend of PrivateUse1, and the "
    "name of the device, which _load.py asks for first, is refused before",
    "REGISTER_GRAPH_IMPL": "the key is the name of the device, see above",
    "REGISTER_HOST_ALLOCATOR": "replaces the allocator, or keeps the first one",
    "REGISTER_PRIVATEUSE1_DISPATCH": "writes a pointer",
    "REGISTER_PRIVATEUSE1_OBSERVER": "writes a pointer",
    "REGISTER_PRIVATEUSE1_PROFILER": "writes a pointer",
    "TORCH_LIBRARY_IMPL": "throws with a torch that the version guard refuses before",
}
MACRO = re.compile(r"^([A-Z][A-Z0-9_]+)\(", re.MULTILINE)
# In a namespace, clang-format keeps a definition at the first column. The initializer
# of a variable calls something in `x = f(...)` or `x = [] {...}()`; a call in
# `T x("...")` is that of a constructor. A function has parentheses before any `=`.
TYPE = r"^(?!constexpr|constinit|extern|using|return)(?:[\w:<>,*&]+ )+[*&]*"
CALLED = re.compile(TYPE + r"(\w+) = ((?:\[|[\w:<>*]+\(|\*new )[^;]*);", re.MULTILINE)
CONSTRUCTED = re.compile(TYPE + r"(\w+)[({](?:[\"&\[]|\w+\()", re.MULTILINE)
OWN = re.compile(r"\*new (?:std::)?\w+(<.*>)?(\(\))?$")  # memory of the library itself


def static_objects(text: str) -> list[str]:
    """Static objects whose initializers call a function."""
    called = [name for name, value in CALLED.findall(text) if not OWN.match(value)]
    return called + CONSTRUCTED.findall(text)


def test_no_other_static_object_calls_torch():
    used, left = set(), {}
    for path in SOURCES:
        text = path.read_text()
        used |= set(MACRO.findall(text))
        text = re.sub(r"^const Registration ", "", text, flags=re.MULTILINE)
        objects = static_objects(text)
        if objects:
            left[path.name] = objects
    assert used == MACROS.keys()
    assert left == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("const bool done = [] {\n  f();\n  return true;\n}();", ["done"]),
        ("static auto x = f();", ["x"]),
        ('const Registrar r("name", [] { f(); });', ["r"]),
        ("Registrar r{&f};", ["r"]),
        ("auto& y = *new std::map<int, C>;", []),
        ("std::atomic<int> count = 0;", []),
        ("const char* f(int x);", []),
        ("int f(int x) { return g(x); }", []),
    ],
)
def test_the_scan_finds_static_objects(text, names):
    assert static_objects(f"namespace a {{\n{text}\n}}  // namespace a\n") == names

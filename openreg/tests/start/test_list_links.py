# The lists of files have what the linker needs; see docs/reference/copy-lists.md.
"""`nox -s ladder` compares the lists with object files of the backend."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import definitions
import list_links
import pytest
from feature_list import FEATURES
from ladder_stages import OPENREG


@pytest.mark.parametrize(
    ("feature", "source"),
    [
        ("Create and view tensors", "aten/ops/Copy.cpp"),
        ("Caching allocator", "runtime/memory/DeviceCachingAllocatorReport.cpp"),
        ("Structured operators", "aten/kernels/KernelDtypesTable.cpp"),
        ("Dispatch stubs", "aten/kernels/KernelDtypesTable.cpp"),
    ],
)
def test_a_list_has_a_source_to_which_no_header_leads(feature, source):
    """A table needs the first, a class the second, a variable the last."""
    (one,) = [one for one in FEATURES if one.name == feature]
    listed, _ = list_links.files_of(one)
    assert f"csrc/{source}" in listed
    assert str(Path(f"csrc/{source}").with_suffix(".h")) not in listed


ROW = re.compile(r'^ +m\.impl\("[\w.]+",\s+(\w+)\);', re.MULTILINE)


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_list_has_what_its_tables_register(feature):
    """The headers of operators lead to no source."""
    listed, there = list_links.files_of(feature)
    sources = [name for name in there if name.endswith(".cpp")]
    code = "".join((OPENREG / name).read_text() for name in sources)
    for name in listed & set(sources):
        for function in ROW.findall((OPENREG / name).read_text()):
            assert f"{function}(" in code, (name, function)


TREE = {
    "Api.h": """
namespace backend {
// called(), not called by the source
int called(int a,
           int b = 1);
void registered();
void other();
extern const int kNumbers;
class Whole {
 public:
  void run();
};
}  // namespace backend
""",
    "kernels.h": "namespace backend::kernels {\nint other();\n}\n",
    "called.cpp": "namespace backend {\nint called(int a, int b) { return a; }\n}\n",
    "registered.cpp": "namespace backend {\nvoid registered() {}\n}\n",
    "other.cpp": "namespace backend {\nvoid other() {}\n}\n",
    "numbers.cpp": "namespace backend {\nconst int kNumbers(4);\n}\n",
    "whole.cpp": "namespace backend {\nvoid Whole::run() {}\n}\n",
    "hidden.cpp": "namespace backend {\nnamespace {\n"
    "int called(int a, int b) { return b; }\n}  // namespace\n}\n",
    "user.cpp": """
namespace backend {
int use(const Vendor& vendor) {
  // other() stands in a comment
  log("other()");
  vendor.other();
  vendor->other();
  kernels::other();
  m.impl("aten::some.op",
         registered);
  return called(kNumbers);
}
}
""",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small backend: each source includes the first header."""
    folder = tmp_path / "csrc"
    folder.mkdir()
    for name, text in TREE.items():
        first = '#include "csrc/Api.h"\n' if name != "Api.h" else ""
        (folder / name).write_text(first + text)
    monkeypatch.setattr(definitions, "OPENREG", tmp_path)
    cached = [definitions.headers_of, definitions.elsewhere]
    cached += [definitions.names_of, definitions.used_in]
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("tree")
def test_the_sources_that_define_what_a_file_uses():
    expected = {"called", "registered", "numbers", "whole"}
    assert definitions.defining("csrc/user.cpp") == {
        f"csrc/{name}.cpp" for name in expected
    }


@pytest.mark.usefixtures("tree")
def test_a_header_uses_nothing_that_it_declares_but_its_classes():
    assert definitions.defining("csrc/Api.h") == {"csrc/whole.cpp"}


SOURCES = {
    "a": "int b(); int c(); int main() { return b() + c(); }",
    "b": "int b() { return 1; }",
    "c": 'extern "C" int puts(const char*); int c() { return puts("c"); }',
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("objects")
    found = {}
    for name, text in SOURCES.items():
        source = folder / f"{name}.cpp"
        source.write_text(text)
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        command = [*compiler, "-c", str(source), "-o", str(folder / f"{name}.o")]
        subprocess.run(command, check=True)
        found[f"{name}.cpp"] = list_links.symbols_of(folder / f"{name}.o")
    return found


@pytest.mark.parametrize(
    ("source", "there", "lacks"),
    [
        ("a", "abc", ""),
        ("a", "ab", "c"),
        ("a", "a", "bc"),
        ("c", "c", ""),  # no source of ours defines puts
    ],
)
def test_the_sources_that_the_linker_lacks(objects, source, there, lacks):
    undefined = objects[f"{source}.cpp"].undefined
    definers = list_links.definers_of(objects)
    found = list_links.lacking({f"{name}.cpp" for name in there}, undefined, definers)
    assert found == {f"{name}.cpp" for name in lacks}

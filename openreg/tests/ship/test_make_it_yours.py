# The large backend under another name; see docs/ship/make-it-yours.md.
"""``nox -s ladder`` compiles a few files of such a copy, ``nox -s clone`` all."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

OPENREG = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(OPENREG))
from cloning import decisions, full, names  # noqa: E402
from cloning.contents import texts_of  # noqa: E402
from cloning.spelling import Spelling, without_guide  # noqa: E402
from cloning.stages import LAST  # noqa: E402
from cloning.target import write  # noqa: E402

TOOL = OPENREG / "new_backend.py"
TRACE = re.compile(r"\w*openreg\w*", re.IGNORECASE)
# What the driver of the copy is called, reads and declares.
DRIVER = {"openreg", "libopenreg", "openreg_activity", "openreg_graph", "openreg_ipc"}
DRIVER |= {"OPENREG_DEVICE_MEMORY", "OPENREG_LAUNCH_BLOCKING", "OPENREG_SIM_DELAY"}
DRIVER |= {"OPENREG_STEAL", "lopenreg"}
COMMENT = re.compile(r"\s*(//|#(?!include)|\*|\"\"\"|$)")


def clone(name, folder, *options):
    command = [sys.executable, str(TOOL), name, "--into", str(folder)]
    return subprocess.run([*command, *options], capture_output=True, text=True)


def written(spelling, folder):
    write(folder, texts_of(spelling, LAST))
    return folder


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    return written(Spelling("acme"), tmp_path_factory.mktemp("new") / "torch_acme")


@pytest.fixture(scope="module")
def nova(tmp_path_factory):
    """With its own driver."""
    spelling = Spelling("nova", "novart")
    return written(spelling, tmp_path_factory.mktemp("new") / "torch_nova")


def files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def own(folder):
    """The files of the backend: neither its driver nor its license."""
    return [
        path
        for path in files(folder)
        if "third_party" not in path.parts and path.name != "LICENSE"
    ]


# -- names --


def test_only_words_of_the_driver_are_left(acme):
    found = set()
    for path in own(acme):
        text = f"{path.relative_to(acme)}\n{path.read_text()}"
        words = set(TRACE.findall(text))
        assert words <= DRIVER, (path, words - DRIVER)
        found |= words
    assert found == DRIVER  # or the set allows more than is needed


def test_the_library_of_collectives_is_left_and_the_backend_around_it_is_not(acme):
    for path in own(acme):
        for word in re.findall(r"\w*occl\w*", path.read_text(), re.IGNORECASE):
            assert re.fullmatch(r"occl[A-Z]\w*|occl", word), (path, word)
            assert (
                word != "occl" or "occl.h" in path.read_text() or path.suffix == ".md"
            )


def test_another_driver_leaves_no_trace_at_all(nova):
    for path in files(nova):
        if path.name != "LICENSE":
            text = f"{path.relative_to(nova)}\n{path.read_text()}"
            assert not TRACE.findall(text), path
            assert "occl.h" not in text, path
    assert not list(nova.rglob("third_party/openreg"))
    guard = (nova / "csrc/runtime/device/NovaFunctions.h").read_text()
    assert "#include <novart.h>" in guard
    assert "libnovart.so" in (nova / "torch_nova/_inductor/compile.py").read_text()


NAMES = {
    "setup.py": '"torch_acme = torch_acme:_autoload"',
    "CMakeLists.txt": "project(torch_acme LANGUAGES C CXX)",
    "cmake/torch_acme-config.cmake.in": "if(TARGET torch_acme::torch_acme)",
    "csrc/CMakeLists.txt": "target_link_libraries(torch_acme PUBLIC openreg ",
    "csrc/Export.h": "#define ACME_EXPORT C10_EXPORT",
    "csrc/aten/ops/Fallback.cpp": 'std::getenv("ACME_FALLBACK")',
    "csrc/distributed/ProcessGroupACMECCL.h": "class ACME_EXPORT ProcessGroupACME",
    "csrc/profiler/AcmeProfiler.cpp": 'const std::string name_ = "acme";',
    "csrc/runtime/graph/AcmeGraph.cpp": "REGISTER_GRAPH_IMPL(ACME, acme::",
    "csrc/runtime/memory/AcmeAllocatorConfig.cpp": '"acme_memory_fraction"',
    "torch_acme/_load.py": '_register_device_module("acme", torch_acme.acme)',
    "torch_acme/acme/_distributed.py": 'register_backend("acmeccl", _make, True,',
    "torch_acme/acme/random.py": 'register_graphsafe_rng_device_type("acme")',
    "third_party/openreg/include/openreg.h": "OPENREG_API orError_t orInit(void);",
    "tests/support/backend.py": '"TEST_DEVICE", "acme"',
}


@pytest.mark.parametrize("path", NAMES)
def test_each_registered_name_is_the_new_one(path, acme):
    assert NAMES[path] in (acme / path).read_text()


@pytest.mark.parametrize(
    ("path", "text", "renamed"),
    [
        (
            "a.py",
            "An openreg tensor, an `openreg` stream",
            "A nova tensor, a `nova` stream",
        ),
        ("a.cpp", "to_occl(occlSum) OCCL_CHECK", "to_novaccl(occlSum) NOVACCL_CHECK"),
        ("a.cpp", '#include "OpenRegGuard.h"', '#include "NovaGuard.h"'),
        ("CMakeLists.txt", "(openreg/csrc openreg)", "(nova/csrc openreg)"),
        ("a.py", "openreg", "nova"),
    ],
)
def test_the_spelling_follows_the_context(path, text, renamed):
    assert Spelling("nova").renamed(text, path) == renamed


# -- contents --


def test_each_line_of_code_is_there(acme):
    spelling = Spelling("acme")
    for path in full.sources():
        if full.FOLDERS_HERE.search((full.ROOT / path).read_text()):
            continue  # its paths changed
        if str(path) in full.EDITS or path.name in ("LICENSE", "pyproject.toml"):
            continue
        old = [
            spelling.renamed(line, str(path)).replace(
                "in the guide", "in the manual of acme"
            )
            for line in without_guide((full.ROOT / path).read_text()).splitlines()
        ]
        new = (acme / spelling.renamed(full.inside(path), "")).read_text().splitlines()
        assert [x for x in old if not COMMENT.match(x)] == [
            x for x in new if not COMMENT.match(x)
        ], path


def test_nothing_of_the_package_is_forgotten():
    there = {str(path) for path in full.sources()}
    for folder, kind in (("csrc", "cpp"), ("csrc", "h"), ("torch_openreg", "py")):
        for path in (OPENREG / folder).rglob(f"*.{kind}"):
            name = str(path.relative_to(full.ROOT))
            built = full.BUILT & set(path.relative_to(full.ROOT).parts)
            assert name in there or built, name


def test_each_included_file_is_there(acme):
    for path in own(acme):
        if path.suffix not in (".cpp", ".h"):
            continue
        for name in re.findall(r'#include "([^"]+)"', path.read_text()):
            assert (acme / name).is_file() or path.parts[-2] == "cpp", path


def test_each_imported_helper_of_a_test_is_there(acme):
    support = acme / "tests/support"
    assert (support / "forkserver.py").is_file()
    ours = {path.stem for path in (OPENREG / "tests/support").glob("*.py")}
    tools = {path.stem for path in (OPENREG / "tests/tools").glob("*")}
    for path in (acme / "tests").rglob("*.py"):
        names = re.findall(r"^ *(?:from|import) (\w+)", path.read_text(), re.MULTILINE)
        for name in ours & set(names):
            assert (support / f"{name}.py").is_file(), (path, name)
        assert not tools & set(names), path


def test_its_python_files_are_python(acme):
    for path in own(acme):
        if path.suffix in (".py", ".pyi"):
            ast.parse(path.read_text())


def test_nothing_of_the_guide_is_left(acme):
    words = r"LITERALINCLUDE|docs/|in the guide|nox -s|# \(\d\)$|// \(\d\)$"
    guide = re.compile(words, re.MULTILINE)
    for path in files(acme):
        assert not guide.search(path.read_text()), path


def test_references_end_with_their_sentence():
    text = "// Why; see\n// docs/c/d.md. More. See docs/e.md.\n"
    assert without_guide(text) == "// Why. More.\n"


def test_an_edit_that_fits_no_longer_is_an_error(monkeypatch):
    monkeypatch.setitem(full.EDITS, "setup.py", [("not in there", "")])
    with pytest.raises(
        ValueError, match="expected 'not in there' once, found it 0 times"
    ):
        full.edited(Path("setup.py"))


# -- decisions --


def test_cloning_lists_each_decision_once(acme):
    texts = {str(path.relative_to(acme)): path.read_text() for path in files(acme)}
    text = (acme / "CLONING.md").read_text()
    rows = re.findall(r"^\d+\. \[`([^`]+)`\]\(\1\): (.+)$", text, re.MULTILINE)
    assert sorted(rows) == sorted(decisions.decisions(texts))
    assert len(rows) >= 20
    for heading, _ in decisions.SECTIONS:
        section = text.partition(f"### {heading}\n")[2].partition("\n### ")[0]
        assert re.search(r"^\d+\. ", section, re.MULTILINE), heading


def test_a_decision_is_one_line_and_stands_above_code():
    code = [path for path in full.sources() if path.suffix != ".md"]
    for path in code:
        lines = (full.ROOT / path).read_text().splitlines()
        for number, line in enumerate(lines):
            if "VENDOR:" in line:
                assert decisions.VENDOR.match(line), (path, line)
                following = next(x for x in lines[number + 1 :] if "LITERAL" not in x)
                assert following.strip(), (path, line)


# -- arguments --


def test_the_name_of_a_driver_may_have_digits():
    names.check_driver("acme2rt")
    with pytest.raises(ValueError, match="letters and digits, and a letter first"):
        names.check_driver("2acme")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--driver", "My-Rt"], "'My-Rt' cannot be the name of a driver"),
        (["--stage", "2"], "--stage is 2: use 3 (the starter) to 9."),
        (["--stage", "half"], "invalid int value: 'half'"),
    ],
)
def test_bad_options_are_refused(options, error, tmp_path):
    process = clone("acme", tmp_path / "new", *options)
    assert process.returncode == 2 and error in process.stderr
    assert not (tmp_path / "new").exists()

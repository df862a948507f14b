# The starter under another name; see docs/start/first-backend.md.
"""`nox -s ladder` builds such a copy with ``--build``, and trains on it."""

import ast
import os
import re
import resource
import subprocess
import sys

import pytest
from starter_build import STARTER, TESTS, code_lines, sources

sys.path.append(str(STARTER.parent))  # the last: it also has sources of torch_openreg
from cloning import decisions, names, starter, target
from cloning.driver import simulated_driver

TOOL = STARTER.parent / "new_backend.py"
DRIVER = {"openreg", "libopenreg"}  # the target, the header, the library
OF_TESTS = {*DRIVER, "lopenreg", "OPENREG_LAUNCH_BLOCKING"}
ADDED = {"CLONING.md", "tests/conftest.py", "tests/operators/test_minimal.py"}
ADDED |= {target.LIST}
ADDED |= {f"tests/support/{name}.py" for name in ("backend", "forkserver", "patience")}
MEANINGS = ("std", "at", "linux", "index")  # the last one is a function of C


def clone(name, folder, *arguments, **options):
    command = [sys.executable, str(TOOL), name, "--into", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new") / "torch_acme"
    process = clone("acme", folder)
    assert (process.returncode, process.stderr) == (0, "")
    return folder


def files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def own(folder):
    """The files of the backend, without its driver."""
    ours = [path for path in files(folder) if "third_party" not in path.parts]
    return [path for path in ours if path.name != target.LIST]


def copied(path):
    """The name of a file of the starter in the copy."""
    name = str(path.relative_to(STARTER))
    return name.replace("starter", "acme").replace("Starter", "Acme")


def test_it_has_each_file_tests_and_a_list_of_decisions(acme):
    names = {str(path.relative_to(acme)) for path in files(acme)}
    assert names == {copied(path) for path in sources()} | ADDED | {*simulated_driver()}


def test_the_pages_count_them(acme):
    docs = TESTS.parents[1] / "docs"
    text = (docs / "start/first-backend.md").read_text()
    text += (docs / "ship/make-it-yours.md").read_text()
    counts = re.findall(r"torch_acme: (\d+) files of|\| size \| (\d+) files", text)
    assert len(counts) == 3
    assert {one or other for one, other in counts} == {str(len(files(acme)) - 1)}


def test_it_has_each_line_of_code(acme):
    for old in sources():
        new = acme / copied(old)
        added = starter.PYTEST.strip() if new.name == "pyproject.toml" else ""
        assert added in new.read_text()
        lines = code_lines(new) - len(added.splitlines())
        assert 0 <= code_lines(old) - lines <= 1  # a reference to the guide


def test_no_trace_of_the_old_name_is_left(acme):
    for path in own(acme):
        text = f"{path.relative_to(acme)}\n{path.read_text()}"
        assert not re.search("starter|literalinclude|docs/", text, re.IGNORECASE), path
        words = set(re.findall(r"\w*openreg\w*", text, re.IGNORECASE))
        of_tests = "tests" in path.relative_to(acme).parts
        assert words <= (OF_TESTS if of_tests else DRIVER), path


def test_the_three_spellings_of_the_name(acme):
    guard = (acme / "csrc/runtime/interface/AcmeGuardImpl.cpp").read_text()
    for text in ("namespace acme {", "struct AcmeGuardImpl final", "ACME_CHECK("):
        assert text in guard
    assert (
        'rename_privateuse1_backend("acme")'
        in (acme / "torch_acme/__init__.py").read_text()
    )


def test_its_python_files_are_python(acme):
    for path in own(acme):
        if path.suffix == ".py":
            ast.parse(path.read_text())


# -- tests --


def test_its_tests_are_the_portable_ones_with_all_of_their_cases(acme):
    old = (TESTS / "operators/test_minimal.py").read_text()
    new = (acme / "tests/operators/test_minimal.py").read_text()
    assert new.count("\n") > 300 and new.partition("\n")[2] == old.partition("\n")[2]


def test_its_tests_find_the_new_name_and_import_only_what_is_there(acme):
    support = acme / "tests/support"
    backend = (support / "backend.py").read_text()
    assert '"TEST_DEVICE", "acme"' in backend and '"TEST_STAGE", "3"' in backend
    assert '\npythonpath = ["tests/support"]\n' in (acme / "pyproject.toml").read_text()
    ours = {path.stem for path in (TESTS / "support").glob("*.py")}
    for path in (acme / "tests").rglob("*.py"):
        names = re.findall(r"^ *(?:from|import) (\w+)", path.read_text(), re.MULTILINE)
        assert all((support / f"{name}.py").is_file() for name in ours & {*names}), path


# -- decisions --


def test_cloning_lists_each_decision_once_in_the_order_of_the_ladder(acme):
    text = (acme / "CLONING.md").read_text()
    rows = re.findall(r"^(\d+)\. \[`([^`]+)`\]\(\2\): (.+)$", text, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1))
    marked = [
        (copied(path), what)
        for path in sources()
        for what in re.findall(r"VENDOR: (.+)$", path.read_text(), re.MULTILINE)
    ]
    assert sorted((path, what) for _, path, what in rows) == sorted(marked)
    headings = [heading for heading, _ in decisions.SECTIONS]
    assert re.findall("^### (.+)$", text, re.MULTILINE) == headings[:4]


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("pyproject.toml", "Package and build"),
        ("csrc/runtime/errors/AcmeException.h", "Devices and errors"),
        ("csrc/runtime/memory/AcmeDeviceAllocator.cpp", "Memory, streams and copies"),
        ("csrc/aten/ops/Copy.cpp", "Memory, streams and copies"),
        ("csrc/aten/ops/Fallback.cpp", "Operators"),
    ],
)
def test_the_section_of_a_decision(path, heading):
    assert decisions.section_of(path, "acme") == heading


def test_a_decision_is_one_line_and_stands_above_code():
    for path in sources():
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if "VENDOR:" in line:
                assert decisions.VENDOR.match(line), (path, line)
                following = lines[number + 1].strip()
                assert following and not following.startswith(("//", "#")), path


# -- arguments --


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Acme", "'Acme' cannot be the name of a device. Use lower-case letters"),
        ("my-chip", "'my-chip' cannot be the name of a device"),
        ("acme2", "letters only: torch.device accepts no digits, for example."),
        ("privateuse1", "'privateuse1' cannot be the name of a device"),
        ("privateuseone", "PyTorch has a device 'privateuseone' already."),
        ("cuda", "PyTorch has a device 'cuda' already. Choose another name."),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, error, tmp_path):
    process = clone(name, tmp_path / "new")
    assert process.returncode == 2 and error in process.stderr
    assert not (tmp_path / "new").exists()


LOADED = "so torch would load what was saved on it for that device"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("class", "'class' is a keyword of Python"),
        ("namespace", "'namespace' is a keyword of C++"),
        *((name, f"'{name}' has a meaning in C or C++ already") for name in MEANINGS),
        ("mpsx", f"'mpsx' begins with 'mps', {LOADED}"),
        ("cudax", f"'cudax' begins with 'cuda', {LOADED}"),
        ("ones", "PyTorch has torch.ones already"),
        ("numa", "PyTorch has torch.numa already"),  # import torch does not load it
        ("backward", "Tensor.backward exists already"),
        ("leaf", "Tensor.is_leaf exists already"),
        ("forward", "Module.forward exists already"),
    ],
)
def test_a_name_with_a_meaning_is_refused(name, error, monkeypatch):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")  # the check sets it
    with pytest.raises(ValueError) as refused:
        names.check_device(name)
    assert str(refused.value) == f"{error}. Choose another name."


def test_other_names_are_accepted():
    """In a process that no backend has given names."""
    program = """
from cloning import names
for name in ("acme", "nova", "openreg", "starter", "tpu"):
    names.check_device(name)
"""
    subprocess.run([sys.executable, "-c", program], cwd=STARTER.parent, check=True)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    process = clone("acme", tmp_path)
    assert process.returncode == 2 and "is not empty" in process.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("file", "file is not a folder. Choose another path."),
        ("nowhere", "nowhere is not a folder. Choose another path."),
        ("file/new", "file is not a folder. Choose another path."),
        ("/proc/new", "cannot write /proc/new: "),
    ],
)
def test_a_path_that_cannot_be_a_folder_is_an_error_of_the_command(
    folder, error, tmp_path
):
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    process = clone("acme", tmp_path / folder)
    assert process.returncode == 2 and error in process.stderr
    assert "Traceback" not in process.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "nowhere"]


SOURCES = ["cmake", *(f"openreg/{name}" for name in ("starter", "csrc", "tests"))]
SOURCES += ["openreg/torch_openreg", "openreg/third_party", "openreg/starter/a/b"]


@pytest.mark.parametrize("folder", SOURCES)
def test_a_folder_in_the_sources_of_copies_is_refused(folder, tmp_path):
    (tmp_path / "link").symlink_to(STARTER.parents[1])
    for root in (STARTER.parents[1], tmp_path / "link"):
        with pytest.raises(ValueError, match="whose files are copied"):
            target.check_target(root / folder / "new")


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # as on a full disk


@pytest.mark.parametrize("exists", [False, True])
def test_a_copy_that_fails_leaves_nothing_behind(exists, tmp_path):
    folder = tmp_path / "new"
    if exists:
        folder.mkdir()
    process = clone("acme", folder, preexec_fn=small_files)
    assert process.returncode == 2
    assert f"cannot write {folder}: File too large" in process.stderr
    assert list(tmp_path.rglob("*")) == [folder] * exists
    assert clone("acme", folder).returncode == 0
    assert (folder / "CLONING.md").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("stage", ["3", "9"])
def test_the_locale_does_not_matter(stage, tmp_path):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, str(TOOL), "acme", "--stage", stage, "--into", "new"]
    process = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **ascii_only},
    )
    assert process.returncode == 0, process.stderr

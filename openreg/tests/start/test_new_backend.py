# The starter under another name; see docs/start/first-backend.md.
"""`nox -s ladder` builds such a copy, and trains on it."""

import ast
import re
import subprocess
import sys

import pytest
from starter_build import STARTER, code_lines, sources

TOOL = STARTER.parent / "new_backend.py"
DRIVER = {"openreg", "libopenreg"}  # the target, the header, the library


def clone(name, folder):
    command = [sys.executable, str(TOOL), name, "--into", str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new") / "torch_acme"
    process = clone("acme", folder)
    assert (process.returncode, process.stderr) == (0, "")
    return folder


def files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def test_it_has_each_file_with_each_line_of_code(acme):
    assert len(files(acme)) == len(sources())
    for old in sources():
        name = str(old.relative_to(STARTER))
        new = acme / name.replace("starter", "acme").replace("Starter", "Acme")
        assert 0 <= code_lines(old) - code_lines(new) <= 1  # a reference to the guide


def test_no_trace_of_the_old_name_is_left(acme):
    for path in files(acme):
        text = f"{path.relative_to(acme)}\n{path.read_text()}"
        assert not re.search("starter|literalinclude|docs/", text, re.IGNORECASE), path
        words = set(re.findall(r"\w*openreg\w*", text, re.IGNORECASE))
        assert words <= DRIVER, path


def test_the_three_spellings_of_the_name(acme):
    guard = (acme / "csrc/runtime/AcmeGuard.cpp").read_text()
    for text in ("namespace acme {", "struct AcmeGuardImpl final", "ACME_CHECK("):
        assert text in guard
    assert (
        'rename_privateuse1_backend("acme")'
        in (acme / "torch_acme/__init__.py").read_text()
    )


def test_its_python_files_are_python(acme):
    for path in files(acme):
        if path.suffix == ".py":
            ast.parse(path.read_text())


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Acme", "'Acme' cannot be the name of a device. Use lower-case letters"),
        ("my-chip", "'my-chip' cannot be the name of a device"),
        ("cuda", "PyTorch has a device 'cuda' already. Choose another name."),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, error, tmp_path):
    process = clone(name, tmp_path / "new")
    assert process.returncode == 2 and error in process.stderr
    assert not (tmp_path / "new").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    process = clone("acme", tmp_path)
    assert process.returncode == 2 and "is not empty" in process.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]

# Each stage's program passes, and fails before it; see docs/start/ladder.md.
"""`nox -s ladder` builds the stages; here run the programs that need no new build."""

import re

import pytest

# Before the package cloning: the tools put its folder last in the path.
from ladder import last_error  # isort: split

from cloning.contents import texts_of
from cloning.full import inside
from cloning.spelling import Spelling
from cloning.target import write
from ladder_page import FILES_PAGE, PAGE, files_page, measured_of, page
from ladder_picture import PICTURE, picture
from ladder_stages import OPENREG, STAGES, STARTER, TESTS, files_of, included
from starter_build import install_starter, sources
from starter_knockouts import quoted

SHOWN = measured_of(PAGE.read_text())
BROUGHT = [stage for stage in STAGES if not stage.in_starter]


@pytest.fixture(scope="module")
def site():
    return install_starter()


@pytest.fixture
def run_on_starter(site, run_forked):
    def run(stage):
        start = f"import sys; sys.path.insert(0, {str(site)!r}); import torch_starter\n"
        program = start + stage.program.read_text()
        return run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")

    return run


def test_the_page_has_the_files_and_lines_of_the_sources():
    hint = "write it again: python openreg/tests/tools/ladder_page.py"
    assert PAGE.read_text() == page(SHOWN), hint
    assert FILES_PAGE.read_text() == files_page(), hint
    assert PICTURE.read_text() == picture(), hint


def test_the_last_stage_of_the_starter_passes_on_it(run_on_starter):
    process = run_on_starter(STAGES[3])
    assert process.stdout == SHOWN[3][0], process.stderr


def test_the_fourth_stage_fails_on_the_starter_with_the_error_of_the_page(
    run_on_starter,
):
    process = run_on_starter(STAGES[4])
    assert process.returncode == 1
    assert quoted(last_error(process.stderr)) == f"`{SHOWN[4][1]}`"


@pytest.mark.parametrize("stage", BROUGHT, ids=lambda stage: stage.title)
def test_a_later_stage_passes_on_the_large_backend(stage, run_forked):
    process = run_forked("import torch_openreg\n" + stage.program.read_text())
    assert process.stdout == SHOWN[stage.number][0], process.stderr


def test_the_first_stages_are_the_starter():
    files = [path for stage in STAGES if stage.in_starter for path in files_of(stage)]
    assert sorted(files) == sources()


def test_no_file_comes_twice():
    files = [path for stage in STAGES for path in files_of(stage)]
    assert len(files) == len(set(files))


def test_what_a_file_of_the_starter_includes_comes_with_it_or_before():
    there = set()
    for stage in STAGES[:4]:
        there |= set(files_of(stage))
        for path in files_of(stage):
            for name in included(path):
                assert STARTER / name in there, f"stage {stage.number}: {path}: {name}"


INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
RELATIVE = re.compile(r"^ *from \.(\w+) import", re.MULTILINE)
DEVICE_MODULE = re.compile(r"torch_acme\.acme\.(\w+)\.")


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """The large backend, cut down to each stage."""
    folders = {}
    for stage in BROUGHT:
        folders[stage.number] = folder = tmp_path_factory.mktemp("stage")
        write(folder, texts_of(Spelling("acme"), stage.number))
    return folders


@pytest.mark.parametrize("stage", BROUGHT, ids=lambda stage: stage.title)
def test_a_copy_mentions_nothing_of_later_stages(copies, stage):
    """Neither includes, nor rows of tables, bindings, imports or packages."""
    code = copies[stage.number]
    texts = {path: path.read_text() for path in code.rglob("*") if path.is_file()}
    for path, text in texts.items():
        if path.suffix in (".h", ".cpp") and "third_party" not in path.parts:
            for name in INCLUDE.findall(text):
                assert (code / name).is_file(), f"{path}: {name}"
        if path.suffix == ".py" and path.parent == code / "torch_acme/acme":
            for name in RELATIVE.findall(text):
                assert (path.parent / f"{name}.py").is_file(), f"{path}: {name}"
    for name in DEVICE_MODULE.findall((code / "torch_acme/_load.py").read_text()):
        assert (code / f"torch_acme/acme/{name}.py").is_file(), name
    setup = (code / "setup.py").read_text()
    for name in re.findall(r'"torch_acme\.(_[a-z]\w*)"', setup):
        assert (code / "torch_acme" / name).is_dir(), name
    if stage is not BROUGHT[-1]:
        module = (code / "torch_acme/acme/__init__.py").read_text()
        assert "_inductor" not in module + setup
        assert "ccl" not in setup


def test_the_last_copy_is_the_whole_backend(copies):
    last = copies[BROUGHT[-1].number]
    for folder in ("csrc", "torch_openreg"):
        for original in sorted((OPENREG / folder).rglob("*.cpp")):
            path = original.relative_to(OPENREG.parent)
            copy = last / Spelling("acme").renamed(inside(path), "")
            assert copy.is_file()
            code = original.read_text().replace("openreg::", "")
            assert copy.read_text().count("\n  m.impl(") == code.count("\n  m.impl(")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.title)
def test_the_test_of_the_stage_exists(stage):
    assert (TESTS / stage.test).is_file()

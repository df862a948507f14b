# Each stage's program passes, and fails before it; see docs/start/ladder.md.
"""`nox -s ladder` builds the stages; here run the programs that need no new build."""

import pytest
from ladder import last_error
from ladder_page import PAGE, measured_of, page
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


def test_the_last_stage_of_the_starter_passes_on_it(run_on_starter):
    process = run_on_starter(STAGES[3])
    assert process.stdout == SHOWN[3][0], process.stderr


@pytest.mark.parametrize("stage", BROUGHT, ids=lambda stage: stage.title)
def test_a_later_stage_fails_on_the_starter_with_the_error_of_the_page(
    stage, run_on_starter
):
    process = run_on_starter(stage)
    assert process.returncode == 1
    assert quoted(last_error(process.stderr)) == f"`{SHOWN[stage.number][1]}`"


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


def test_what_a_file_includes_comes_with_it_or_before():
    there = set()
    for stage in STAGES:
        root = STARTER if stage.in_starter else OPENREG
        there |= set(files_of(stage))
        for path in files_of(stage):
            for name in included(path):
                assert root / name in there, f"stage {stage.number}: {path}: {name}"


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.title)
def test_the_test_of_the_stage_exists(stage):
    assert (TESTS / stage.test).is_file()

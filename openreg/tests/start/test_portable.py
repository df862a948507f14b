# The tests that run on any backend run on the starter; see docs/start/first-backend.md.
"""``nox -s ladder`` runs them on copies under another name."""

import re

import pytest
from portable import PORTABLE, run_portable
from starter_build import TESTS, environment, install_starter

SUPPORT = TESTS / "support"
LATER = """
test_streams_of_a_device_that_does_not_exist_are_refused
test_the_operator_behind_item_takes_one_element
test_a_peer_copy_materialises_its_target_where_it_lies
test_a_storage_that_is_too_small_is_refused
"""


def test_they_pass_on_the_starter_but_for_those_of_stage_4():
    output = run_portable(environment(install_starter()), "starter", 3)
    _, names, end = re.split(r"=+ 4 deselected, without stage 4 =+|\n(?=\d)", output)
    assert names == LATER.rstrip()
    passed = re.fullmatch(r"(\d+) passed, 4 deselected in .*\n", end)
    assert passed and int(passed[1]) > 100, output


NAMES = re.compile(r"openreg|acme|torch\.starter", re.IGNORECASE)


CARRIED = ["conftest.py", "support/forkserver.py", "support/patience.py", PORTABLE]


@pytest.mark.parametrize("path", CARRIED)
def test_they_and_what_they_import_name_no_device(path):
    for line in (TESTS / path).read_text().splitlines():
        assert line.startswith("#") or not NAMES.search(line), line


def test_they_import_nothing_of_the_large_backend():
    text = (TESTS / PORTABLE).read_text() + (TESTS / "conftest.py").read_text()
    imported = set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE))
    assert imported & {path.stem for path in SUPPORT.glob("*.py")} == {
        "backend",
        "forkserver",
        "patience",
    }


@pytest.mark.parametrize(
    ("needs", "missing"),
    [
        ("", ""),
        ("stage=3, devices=1", ""),
        ("stage=4", "stage 4"),
        ("devices=2", "2 devices"),
        ("stage=3, devices=2", "2 devices"),
        ("capability='memory that the host cannot touch'", ""),
        ("capability='a fast kernel'", "a fast kernel"),
    ],
)
def test_what_a_backend_lacks(needs, missing, run_forked):
    program = f"""
        import sys, torch
        sys.path.insert(0, {str(SUPPORT)!r})
        from backend import lacks
        print(lacks({needs}))
    """
    process = run_forked(program, TEST_STAGE="3", OPENREG_DEVICE_COUNT="1")
    assert (process.stdout, process.stderr) == (f"{missing}\n", "")

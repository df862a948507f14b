# docs/reference/environment.md lists what the sources read, and README.md agrees.
"""``openreg/tests/tools/environment_table.py`` writes the page."""

import importlib.util
import mmap
import re
from pathlib import Path

import pytest
from recording import load

ROOT = Path(__file__).resolve().parents[1]
TABLE = load("openreg/tests/tools/environment_table.py")
DRIVER = TABLE.readers(TABLE.BACKEND)
HINT = "write it again: python openreg/tests/tools/environment_table.py"


def test_the_page_is_what_the_sources_say():
    assert TABLE.PAGE.read_text() == TABLE.page(), HINT


def test_each_variable_is_described_once():
    """page() raises a KeyError for a variable without a row."""
    found = {*DRIVER, *TABLE.readers(TABLE.TOOLS)} - set(TABLE.TORCH)
    assert found == set(TABLE.ROWS)


def test_the_readme_has_those_of_the_backend_in_the_same_words():
    section = (ROOT / "README.md").read_text().partition("## Environment variables")[2]
    listed = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", section, re.MULTILINE)
    assert {row[0] for row in listed} == set(DRIVER) - set(TABLE.TORCH)
    for name, default, does in listed:
        assert (default, does) == TABLE.ROWS[name][:2]


def torch_folder():
    """Where torch is; importing it would take longer than these tests."""
    return Path(importlib.util.find_spec("torch").origin).parent


@pytest.mark.parametrize("file", sorted({row.file for row in TABLE.TORCH.values()}))
def test_the_file_of_torch_names_the_variables(file):
    names = [name for name, row in TABLE.TORCH.items() if row.file == file]
    with (torch_folder() / file).open("rb") as opened:
        text = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        assert [name for name in names if text.find(name.encode()) < 0] == []


@pytest.mark.parametrize("name", [*TABLE.ROWS, *TABLE.TORCH])
def test_the_page_that_a_row_names_explains_the_variable(name):
    page = TABLE.TORCH[name].page if name in TABLE.TORCH else TABLE.ROWS[name].page
    if page:
        assert name in (ROOT / "docs" / page).read_text()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('std::getenv("A_B"); readVariable("C_D", 0)', {"A_B", "C_D"}),
        ('get_env("M_N"); c10::utils::check_env("O_P")', {"M_N", "O_P"}),
        ('KEY = "E_F"\nx = os.environ.get(KEY)', {"E_F"}),
        ("f\"{os.environ['G_H']}\"", {"G_H"}),
        ('os.environ["I_J"] = "1"; env = os.environ | {"K_L": "1"}', set()),
    ],
)
def test_what_reads_is_found(source, names):
    assert TABLE.reads(source) == names


def test_a_variable_without_a_row_is_noticed(monkeypatch):
    monkeypatch.delitem(TABLE.ROWS, "OPENREG_STEAL")
    with pytest.raises(ValueError, match="OPENREG_STEAL"):
        TABLE.page()

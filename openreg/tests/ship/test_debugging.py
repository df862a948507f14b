# Messages lead to the rows of a fresh error index; see docs/ship/debugging.md.
import json
import re
import subprocess
import sys

import error_index
import pytest
import torch
import torch_openreg_diagnose
from error_index import DOCS, anchor, collect
from tested_messages import expects, find_test, strings_of
from torch_openreg_diagnose._explain import explain, fit, rows

ROWS = collect()
HINT = "write it again: python openreg/tests/tools/error_index.py"


def test_the_page_is_what_the_tool_writes():
    assert error_index.PAGE.read_text() == error_index.page(ROWS), HINT


def test_the_data_of_the_command_is_what_the_tool_writes():
    assert error_index.DATA.read_text() == error_index.data(ROWS), HINT


def test_the_installed_package_carries_the_data():
    assert rows() == json.loads(error_index.data(ROWS))


def test_no_table_of_errors_is_left_out():
    """Each page with the section gives rows, or has tables about something else."""
    pages = {row["page"].partition("#")[0] for row in ROWS}
    for path in DOCS.glob("[!_]*/*.md"):
        body = dict(error_index.sections(path.read_text())).get("What goes wrong", "")
        heads = {table[0][0].lower() for table in error_index.tables(body)}
        if heads & error_index.FIRST_CELLS:
            assert str(path.relative_to(DOCS)) in pages, path
        assert heads <= error_index.FIRST_CELLS, f"{path}: a table that is not read"


POINTS_ELSEWHERE = re.compile(
    r"\b(as|see) (above|below)\b|see the (limits|table)|rule above|this table"
    r"|(^|; |: )the same($|, | \()"
)


def test_no_row_points_to_the_text_around_it():
    """The index sorts the rows, and the command prints one of them alone."""
    for row in ROWS:
        for text in (row["seen"], row["why"]):
            assert not POINTS_ELSEWHERE.search(text), f"{row['page']}: {text}"
            assert not text.endswith(":"), f"{row['page']}: {text}"


def test_a_section_has_one_gap():
    """Its errors all get its workaround."""
    for path in DOCS.glob("ship/known-*.md"):
        for title, body in error_index.sections(path.read_text()):
            assert body.count("* **Workaround:**") <= 1, f"{path}: {title}"


def test_rows_name_the_missing_piece_and_the_test():
    """A table with a column for the piece leads to its rows, a message to its test."""
    missing = {row["page"] for row in ROWS if row["why"].startswith("missing: ")}
    assert {f"{page}#what-goes-wrong" for page in PAGES_OF_PIECES} <= missing
    tests = {find_test(row["seen"], row["page"]) for row in ROWS} - {""}
    assert len(tests) > 15
    for test in tests:
        assert (DOCS.parent / "openreg/tests" / test).is_file()


PAGES_OF_PIECES = [
    path.relative_to(DOCS).as_posix()
    for path in sorted(DOCS.glob("[!_]*/*.md"))
    if re.search(rf"^\| you \w+ \| {error_index.MISSING} \|", path.read_text(), re.M)
]


@pytest.mark.parametrize(
    ("string", "message", "least", "expected"),
    [
        (
            "item() cannot be in a graph",
            "`RuntimeError: item() cannot be in a graph`",
            1,
            1,
        ),
        (r"cannot be in a graph\.", "manual_seed of it cannot be in a graph", 0, 1),
        (r"cannot be in a graph\.", "manual_seed of it cannot be in a graph", 0.9, 0),
        ("pytest.raises(RuntimeError)", "RuntimeError: a stream without a name", 0, 0),
        ("item() cannot be in another graph", "item() cannot be in a graph", 0, 0),
    ],
)
def test_a_message_is_found_in_what_a_test_compares(string, message, least, expected):
    source = f"with raises(match={string!r}): ..."
    assert expects(strings_of(source), message.strip("`"), least) == bool(expected)


@pytest.mark.parametrize("page", sorted({row["page"] for row in ROWS}))
def test_each_row_leads_to_a_section(page):
    file, _, fragment = page.partition("#")
    titles = re.findall(r"^#+ (.+)$", (DOCS / file).read_text(), re.MULTILINE)
    assert not fragment or fragment in {anchor(title) for title in titles}


def test_each_verbatim_text_finds_its_row():
    for row in rows():
        for text in re.findall(r"`+([^`]+)`+", row["seen"])[:1]:
            spoken = text.replace("...", "something").replace("<name>", "acme")
            assert fit(f"RuntimeError: {spoken} and more", row) >= fit(text, row)


# -- real errors find the page that explains them --


class Event(torch.Event):
    pass


def compare_events():
    first, second = Event("openreg"), Event("openreg")
    first.elapsed_time(second)


ERRORS = {
    "frontend/import-orders.md": lambda: torch.ones(1, device="acme"),
    "frontend/interchange.md": lambda: torch.ones(1, device="openreg").numpy(),
    "ship/known-gaps-streams.md": compare_events,
}


@pytest.mark.parametrize("page", ERRORS)
def test_an_error_that_torch_raises_finds_its_page(page):
    with pytest.raises((RuntimeError, TypeError)) as error:
        ERRORS[page]()
    pages = [row["page"].partition("#")[0] for row in explain(str(error.value))]
    assert page in pages


def test_what_no_page_knows_finds_nothing():
    assert explain("KeyError: 'banana'") == []
    assert explain("") == []


def test_the_command(capsys):
    assert torch_openreg_diagnose.main(["--explain", "is not a DeviceAllocator"]) == 0
    assert 'see "Minimal operators" in the guide' in capsys.readouterr().out
    assert torch_openreg_diagnose.main(["--explain", "banana"]) == 1
    assert "no such message" in capsys.readouterr().out


def test_the_command_needs_no_backend():
    program = (
        "import sys, torch_openreg_diagnose as d; d.main(['--explain', 'banana']);"
        "print({'torch', 'torch_openreg'} & set(sys.modules))"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert process.stdout.splitlines()[-1] == "set()", process.stderr


def test_the_pages_that_messages_name_exist():
    folder = DOCS.parent / "openreg"
    sources = [*folder.glob("csrc/**/*.cpp"), *folder.glob("torch_openreg*/**/*.py")]
    text = "".join(source.read_text() for source in sources)
    named = set(re.findall(r'see \\?"([^"\\{]+)\\?" in the guide', text))
    pages = [page.read_text() for page in DOCS.glob("[!_]*/*.md")]
    assert len(named) >= 4
    titles = {title for page in pages for title in re.findall("^##? (.+)$", page, re.M)}
    assert named <= titles

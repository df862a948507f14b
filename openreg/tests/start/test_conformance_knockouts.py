# The kit on the starter without a piece; docs/reference/conformance-knockouts.md.
import re

from conformance_knockouts import PAGE, judged, measure, row
from starter_build import install_starter
from starter_variants import CLASSES


def lines():
    return [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]


def test_the_rows_without_a_build_are_what_the_kit_says():
    names = ["module.synchronize", "module._is_in_bad_fork", "module.device"]
    measured = measure(install_starter(), names)
    for name in names:
        assert row(name, measured[name]) in lines()


def test_the_page_lists_each_piece_that_can_be_left_out():
    listed = [line.split("|")[1].strip(" `") for line in lines()]
    names = [piece for names in judged().values() for piece in names]
    expected = [name.partition(".")[2] or f"the {name}" for name in names]
    for name, piece in zip(names, expected, strict=True):
        section = name.partition(".")[0]
        known = piece in listed or name in listed
        assert known or section in CLASSES, name  # a pure virtual member has no row


def test_the_page_counts_its_rows():
    found, total = re.search(r"Found: (\d+) of (\d+)", PAGE.read_text()).groups()
    rows = [line for line in lines() if not line.startswith("| without")]
    assert len(rows) == int(total)
    assert sum("nothing fails" not in line for line in rows) == int(found)

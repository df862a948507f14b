# The conformance kit finds planted faults; see docs/ship/conformance.md.
import re

from conformance.faults import all_faults
from conformance_faults import PAGE, measure

FAULTS = all_faults()
EACH = 6  # how many faults one of them stands for


def rows():
    pattern = r"^\| (.*) \| ([\w ]+) \| `(.*)` \| ([\w ]+) \|$"
    return re.findall(pattern, PAGE.read_text(), re.MULTILINE)


def test_the_page_lists_every_fault():
    expected = [(fault.name, fault.where, fault.case) for fault in FAULTS]
    assert [row[:3] for row in rows()] == expected
    found = sum(row[3] != "not found" for row in rows())
    assert f"**Found: {found} of {len(FAULTS)}.**" in PAGE.read_text()
    assert found == len(FAULTS)


def test_the_table_has_each_fault_once():
    assert len({(fault.name, fault.where) for fault in FAULTS}) == len(FAULTS)


def test_the_right_case_finds_a_fault():
    part = list(range(0, len(FAULTS), EACH))
    for number, (sound, broken) in zip(part, measure(part), strict=True):
        assert sound == "passed", FAULTS[number].case
        assert broken == rows()[number][3], FAULTS[number].name

# The conformance kit finds planted faults; see docs/ship/conformance.md.
import re

from conformance.faults import all_faults
from conformance_faults import PAGE, also, level_of, measure

FAULTS = all_faults()
EACH = 8  # how many faults one of them stands for
PRECISE = (  # only one case fails with each of them, of a level below 4
    "`_is_in_bad_fork` is missing",
    "All threads share the current device",
    "`aten::_copy_from` rounds instead of truncating",
    "`aten::relu` returns other strides",
    "`aten::gather` returns another dtype",
)


def rows():
    pattern = r"^\| (.*) \| ([\w ]+) \| `(.*)` \| ([\w ]+) \| (.*) \|$"
    return re.findall(pattern, PAGE.read_text(), re.MULTILINE)


def test_the_page_lists_every_fault():
    expected = [(fault.name, fault.where, fault.case) for fault in FAULTS]
    assert [row[:3] for row in rows()] == expected
    found = sum(row[3] != "not found" for row in rows())
    assert f"**Found: {found} of {len(FAULTS)}.**" in PAGE.read_text()
    assert found == len(FAULTS)


def test_the_table_has_each_fault_once():
    assert len({(fault.name, fault.where) for fault in FAULTS}) == len(FAULTS)


def test_the_page_counts_the_faults_of_one_case_only():
    only = sum(row[3] != "not found" and row[4] == "none" for row in rows())
    assert f"For {only} faults" in " ".join(PAGE.read_text().split())


def test_what_else_fails_is_of_the_same_level():
    for fault, row in zip(FAULTS, rows(), strict=True):
        for name in re.findall(r"`(.+?)`", row[4]):
            assert level_of(name) == level_of(fault.case), fault.name


def test_the_right_case_finds_a_fault():
    part = list(range(0, len(FAULTS), EACH))
    for number, found in zip(part, measure(part, alone=True), strict=True):
        assert found.sound == "passed", FAULTS[number].case
        assert found.broken == rows()[number][3], FAULTS[number].name


def test_no_other_case_fails_with_a_precise_fault():
    names = [fault.name for fault in FAULTS]
    part = [names.index(name) for name in PRECISE]
    for number, found in zip(part, measure(part), strict=True):
        outcome, others = rows()[number][3:]
        assert (found.broken, also(found.others)) == (outcome, others)
        assert others == "none", names[number]

# docs/_ext/triton_tables.py: recorded runs of the Triton backend become tables.
from __future__ import annotations

from triton_tables import costs_table, members_table, speed_table

ABOUT = {"commit": "abc", "date": "2026-01-02", "triton": "3.7.1"}


def test_a_member_that_is_not_abstract_has_its_caller_and_its_error() -> None:
    nothing = {"program": None, "called_by": None, "error": None}
    found = {"program": "a launch", "called_by": "a.py:1", "error": "E: a | b"}
    rows = [
        {"member": "D.utils", "abstract": False, **found},
        {"member": "D.x", "abstract": False, **nothing},
        {"member": "B.hash", "abstract": True, **nothing},
    ]
    lines = members_table({**ABOUT, "rows": rows}).splitlines()
    assert lines[2] == "| `D.utils` | a launch | `a.py:1` | `E: a / b` |"
    assert lines[4].endswith("without them: `B.hash`.")
    assert lines[6] == "Nothing failed without `D.x`."
    assert lines[8] == "Recorded 2026-01-02, at commit `abc`, with Triton 3.7.1."


def test_the_name_of_the_member_is_not_repeated() -> None:
    row = {"member": "D.x", "abstract": False, "program": "a", "called_by": None}
    error = "AttributeError: 'D' object has no attribute 'x'"
    table = members_table({**ABOUT, "rows": [{**row, "error": error}]})
    assert table.splitlines()[2] == "| `D.x` | a |  | `AttributeError` |"


def test_a_long_error_is_cut_between_words() -> None:
    row = {"member": "D.utils", "abstract": False, "program": "a", "called_by": ""}
    table = members_table({**ABOUT, "rows": [{**row, "error": "word " * 40}]})
    assert "word word ...` |" in table and len(table.splitlines()[2]) < 130


def test_the_speed_has_a_ratio_where_there_are_loops() -> None:
    rows = {"softmax": [2.0, 4.0, 6.0], "product": [1.0, 0, 3.0]}
    lines = speed_table({**ABOUT, "cores": 2, "rows": rows}).splitlines()
    assert lines[2] == "| softmax | 2.00 | 4.00 | 6.00 | 1.5 |"
    assert lines[3] == "| product | 1.00 | - | 3.00 | - |"
    assert lines[-1].endswith("Triton 3.7.1, on 2 cores.")


def test_launches_and_compilations_have_their_units() -> None:
    run = {**ABOUT, "launch": {"a call": 12.34}, "compile": {"a kernel": 1234.5}}
    lines = costs_table(run).splitlines()
    assert lines[2:4] == [
        "| a call | 12.3 µs |",
        "| compilation of a kernel | 1,234 ms |",
    ]

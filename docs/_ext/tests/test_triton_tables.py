# docs/_ext/triton_tables.py: recorded runs of the Triton backend become tables.
from __future__ import annotations

from triton_tables import costs_table, members_table, speed_table

ABOUT = {"commit": "abc", "date": "2026-01-02", "triton": "3.7.1"}


def test_a_member_has_its_caller_and_the_first_line_of_the_error() -> None:
    member = {"member": "D.utils", "abstract": False, "called_by": "jit.py:1"}
    error = "AttributeError: a | b\nand more"
    unused = {"member": "D.x", "abstract": True, "called_by": "", "error": None}
    rows = [{**member, "error": error}, unused]
    lines = members_table({**ABOUT, "rows": rows}).splitlines()
    assert lines[2] == ("| `D.utils` | no | `jit.py:1` | `AttributeError: a / b` |")
    assert lines[3] == "| `D.x` | yes |  | nothing fails |"
    assert lines[-1] == "Recorded 2026-01-02, commit `abc`, Triton 3.7.1."


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

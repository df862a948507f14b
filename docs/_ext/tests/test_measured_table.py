# docs/_ext/measured_table.py: the table is what was recorded, with when and where.
from __future__ import annotations

import json
from pathlib import Path

import pytest
from measured_table import recorded
from sphinx.errors import ExtensionError

ABOUT = {"date": "2000-01-02", "commit": "abc", "torch": "9", "machine": "a machine"}


def write(folder: Path, *rows: str) -> Path:
    path = folder / "run.json"
    path.write_text(json.dumps({**ABOUT, "tables": {"costs": rows}}))
    return path


def test_the_table_says_when_and_where(tmp_path: Path) -> None:
    path = write(tmp_path, "|a|", "|-|", "|1|")
    assert recorded(path, "costs") == (
        "|a|\n|-|\n|1|\n\n"
        "Recorded on 2000-01-02 at commit `abc`, with torch 9, on a machine."
    )


@pytest.mark.parametrize("rows", [[], ["|a|", "|-|"], ["a", "|-|", "|1|"]])
def test_what_is_no_table_is_refused(tmp_path: Path, rows: list[str]) -> None:
    with pytest.raises(ExtensionError, match=r"run\.json has no table 'costs'"):
        recorded(write(tmp_path, *rows), "costs")

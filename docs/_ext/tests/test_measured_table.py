# docs/_ext/measured_table.py: the table is what the program prints now.
from __future__ import annotations

from pathlib import Path

import pytest
from measured_table import checked
from sphinx.errors import ExtensionError
from trace_picture import run_program


def test_a_program_gets_its_arguments(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import sys\nprint('\\n'.join(sys.argv[1:]))\n")
    text = run_program(path, "|a|", "|-|", "|1|")
    assert checked(text, path) == "|a|\n|-|\n|1|"


@pytest.mark.parametrize("text", ["", "|a|\n|-|\n", "a\n|-|\n|1|\n"])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ExtensionError, match=r"x\.py printed no table"):
        checked(text, Path("x.py"))

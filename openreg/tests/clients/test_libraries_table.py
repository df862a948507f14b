# The table of libraries is what its tool measures; see
# docs/frontend/training-libraries.md.
import json

import libraries_table
import pytest

RECORDED = json.loads(libraries_table.RECORDED.read_text())
LOCKED = [name for name, found in RECORDED.items() if "date" not in found]


@pytest.mark.parametrize("library", LOCKED)
def test_a_library_does_what_the_table_says(library):
    hint = "python openreg/tests/tools/libraries_table.py --record "
    assert libraries_table.measure(library) == RECORDED[library], hint + library

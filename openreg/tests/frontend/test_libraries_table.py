# The table of libraries shows what was recorded, and the pinned versions; see
# docs/frontend/training-libraries.md.
import json
from pathlib import Path

import libraries_table
import torch
from torch_release import has_changed

LOCK = Path(__file__).resolve().parents[3] / "requirements/clients.txt"


def test_the_page_is_what_the_tool_writes():
    hint = "write it again: python openreg/tests/tools/libraries_table.py"
    assert libraries_table.PAGE.read_text() == libraries_table.page(), hint


def test_a_library_is_pinned_or_has_a_date():
    """`nox -s clients` compares the rows of the pinned ones."""
    pins = dict(line.split("==") for line in LOCK.read_text().split() if "==" in line)
    for library, found in json.loads(libraries_table.RECORDED.read_text()).items():
        if "date" in found:
            assert library not in pins, library
        else:
            assert pins[library] == found["version"], library


def test_every_kind_of_row_is_there():
    """A table in which everything works would compare nothing."""
    text = libraries_table.PAGE.read_text()
    for words in ("works unchanged", "one line:", "[plug-in]", "stays on", "refused:"):
        assert f"| {words}" in text or f"| **{words}" in text, words


def test_torch_has_no_set_timeout_yet():
    """With it, the program for torchtitan can call ``Trainer.train()``."""
    there = has_changed("collectives have set_timeout")
    assert hasattr(torch.distributed, "set_timeout") == there

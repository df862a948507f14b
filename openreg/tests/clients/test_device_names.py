# Where libraries name devices, and where they need not; see docs/frontend/libraries.md.
import importlib.util
from pathlib import Path

import pytest
from contract import code, table
from diffusers.utils.torch_utils import get_device

ROWS = table("frontend/libraries.md", "library | file")
FILES = [(row[0], name) for row in ROWS for name in code(row[1])]


def folder(library: str) -> Path:
    return Path(importlib.util.find_spec(library).origin).parent


@pytest.mark.parametrize(("library", "name"), FILES)
def test_a_file_of_the_page_names_a_device_that_a_vendor_added(library, name):
    assert "musa" in (folder(library) / name).read_text()


def test_the_table_has_files():
    assert {library for library, _ in FILES} == {"accelerate", "transformers"}
    assert len(FILES) == 14


def test_diffusers_asks_the_accelerator():
    assert get_device() == "openreg"
    source = (folder("diffusers") / "utils/torch_utils.py").read_text()
    assert "torch.accelerator.current_accelerator().type" in source

# What the pages about Triton say of its sources; see docs/modules/triton.md.
import re
from pathlib import Path

import triton

TRITON = Path(triton.__file__).parent
PAGES = Path(__file__).parents[3] / "docs/modules"
LINES = {
    "compiler/compiler.py:135": '["max_shared_mem"]',
    "compiler/compiler.py:304": "get_codegen_implementation",
    "compiler/compiler.py:455": "launcher_cls(",
    "compiler/compiler.py:468": "utils.load_binary(",
    "runtime/cache.py:316": "backend.hash()",
    "runtime/jit.py:713": "get_current_device()",
    "testing.py:147": "get_device_interface()",
}


def test_the_lines_of_triton_that_the_pages_name():
    text = "".join(page.read_text() for page in sorted(PAGES.glob("triton*.md")))
    assert set(re.findall(r"[\w/]+\.py:\d+", text)) == LINES.keys()
    if triton.__version__ != "3.7.1":  # the pages name the lines of this release
        return
    for place, expected in LINES.items():
        name, _, number = place.partition(":")
        line = (TRITON / name).read_text().splitlines()[int(number) - 1]
        assert expected in line, (place, line)


def test_the_pages_name_releases_that_the_tables_have():
    text = (PAGES / "triton.md").read_text()
    rows = dict(re.findall(r"^\| (2\.\d+) \| (3\.\d+)", text, re.MULTILINE))
    assert rows == {"2.13": "3.7", "2.14": "3.8", "2.15": "3.9"}

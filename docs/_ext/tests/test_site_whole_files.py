# docs/_ext/site_whole_files.py: every line of the files that a page shows, no marker.
from __future__ import annotations

import sys

import pytest
from site_build import EXTENSIONS
from site_whole_files import LONGEST
from small_guide import Project, include, mark
from sphinx.errors import ExtensionError

SNIPPETS = include("../src/a.py", "TWO"), include("../src/a.py", "ONE")
WHOLE = "```{whole-files}\n```\n"


@pytest.fixture
def guide(project: Project) -> Project:
    sys.path.append(str(EXTENSIONS))
    project.conf += 'extensions.append("site_whole_files")\n'
    parts = mark("ONE", "one = 1"), "between = 2\n", mark("TWO", "two = 3")
    project.write("src/a.py", "".join(parts))
    return project


def test_a_file_stands_once_with_its_lines_and_no_marker(guide: Project) -> None:
    guide.page(*SNIPPETS, WHOLE)
    assert guide.build("text") == []
    text = (guide.out / "index.txt").read_text(encoding="utf-8")
    assert text.count("between = 2") == 1
    assert "one = 1\n   between = 2\n   two = 3" in text
    assert "LITERALINCLUDE" not in text


def test_it_stands_below_snippets(guide: Project) -> None:
    guide.page(WHOLE, *SNIPPETS)
    with pytest.raises(ExtensionError, match="no snippet is above whole-files"):
        guide.build("text")


def test_a_long_file_is_refused(guide: Project) -> None:
    lines = [f"line_{number} = {number}" for number in range(LONGEST + 1)]
    guide.write("src/a.py", mark("ONE", "one = 1") + "\n".join(lines) + "\n")
    guide.page(include("../src/a.py", "ONE"), WHOLE)
    with pytest.raises(ExtensionError, match=rf"at most {LONGEST}"):
        guide.build("text")

# docs/_ext/table_of.py: a page shows the one table of a file.
from __future__ import annotations

from pathlib import Path

import pytest
from site_build import build
from sphinx.errors import ExtensionError
from table_of import table_of

TABLE = "| a | b |\n|---|---|\n| `one` | two |\n"
PAGE = "# Front\n\n```{table-of} ../files.txt\n```\n"


def test_a_page_shows_the_table(tmp_path: Path) -> None:
    (tmp_path / "files.txt").write_text(f"Rooms.\n\n{TABLE}\nMore.\n")
    settings = 'extensions.append("table_of")'
    built = build(tmp_path, {"index.md": PAGE}, settings=settings)
    assert built.code == 0, built.messages
    html = built.text("index.html")
    assert "<table" in html
    assert "two" in html
    assert "More" not in html


@pytest.mark.parametrize(
    "text", ["None.\n", f"{TABLE}\n{TABLE}", TABLE.replace("two", "[two](x)")]
)
def test_another_number_of_tables_or_a_link_is_refused(text: str) -> None:
    with pytest.raises(ExtensionError, match=r"files\.md: there must be one table"):
        table_of(text, "files.md")

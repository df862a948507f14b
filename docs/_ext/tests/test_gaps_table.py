# docs/_ext/gaps_table.py: the table has each gap of the pages that it names.
from __future__ import annotations

from pathlib import Path

from gaps_table import gaps_of
from site_build import build

SETTINGS = 'extensions.append("gaps_table")'
DOCS = Path(__file__).resolve().parents[2]
GAPS = """\
# Gaps

## A gap: it `fails`

* **Cause:** a file.
* **Releases:** still open in torch 2.15.0.
* **Workaround:** see
  [below](#no-gap).

## No gap

Text.
"""
INDEX = """\
# Front

```{toctree}
gaps
```

```{known-gaps}
gaps: ends the process
```
"""


def test_a_gap_is_a_section_with_a_workaround() -> None:
    (gap,) = gaps_of(GAPS, "gaps", "crash")
    link = "[A gap: it `fails`](gaps.md#a-gap-it-fails)"
    workaround = "see [below](gaps.md#no-gap)."
    assert gap.row == f"| {link} | crash | open in 2.15 | {workaround} |"


def test_the_table_links_each_gap(tmp_path: Path) -> None:
    built = build(tmp_path, {"index.md": INDEX, "gaps.md": GAPS}, settings=SETTINGS)
    assert built.code == 0, built.messages
    html = built.text("index.html")
    assert 'href="gaps.html#a-gap-it-fails"' in html
    assert "filterable" in html
    assert "ends the process" in html


def test_a_page_without_gaps_is_refused(tmp_path: Path) -> None:
    pages = {"index.md": INDEX, "gaps.md": "# Gaps\n\n## No gap\n\nText.\n"}
    built = build(tmp_path, pages, settings=SETTINGS)
    assert built.code != 0
    assert "gaps.md has no section with a workaround" in built.messages


def test_the_guide_lists_each_of_its_pages_of_gaps() -> None:
    listed = (DOCS / "ship/known-gaps.md").read_text("utf-8")
    for path in DOCS.glob("ship/known-*.md"):
        if path.stem != "known-gaps":
            assert f"\n{path.stem}: " in listed, path.stem

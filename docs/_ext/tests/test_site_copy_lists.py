# docs/_ext/site_copy_lists.py: a chapter links its list of files, and no other.
from __future__ import annotations

import re
from pathlib import Path

import pytest
from site_build import build
from site_copy_lists import LISTS, TITLE, chapters, with_links

DOCS = Path(__file__).resolve().parents[2]
LIST = """\
# Files

## LSTM, GRU layers

Stage 6. Chapter: [operators/layers](../operators/layers.md). Test: `a.py`.

* `a.cpp`
"""
CHAPTER = f"# Layers\n\n## {TITLE}\n\n1. Take it.\n\n## Recap\n\nDone.\n"
LINK = "[lstm, gru layers](../reference/copy-lists.md#lstm-gru-layers)"


def test_the_link_stands_at_the_end_of_the_section() -> None:
    text = with_links(CHAPTER, "operators/layers", ["LSTM, GRU layers"])
    line = f"All files, with what they include and what the test needs: {LINK}."
    added = f"{{.copy-list}}\n{line}\n"
    assert f"it.\n\n{added}" in text
    assert text.endswith("\n\n## Recap\n\nDone.\n")


def test_a_page_without_the_section_stays() -> None:
    assert with_links("# Page\n\nText.\n", "a/b", ["X"]) == "# Page\n\nText.\n"


def test_the_link_leads_to_the_list(tmp_path: Path) -> None:
    front = (
        "# Front\n\n```{toctree}\noperators/layers\nreference/copy-lists\nother\n```\n"
    )
    other = f"# Other\n\n## {TITLE}\n\nNothing.\n"
    pages = {"index.md": front, f"{LISTS}.md": LIST, "operators/layers.md": CHAPTER}
    pages["other.md"] = other
    settings = 'extensions.append("site_copy_lists")\n'
    settings += 'myst_enable_extensions.append("attrs_block")\n'
    built = build(tmp_path, pages, settings=settings)
    assert built.code == 0, built.messages
    assert 'copy-lists.html#lstm-gru-layers"' in built.text("operators/layers.html")
    assert '<p class="copy-list">' in built.text("operators/layers.html")
    assert "All files" not in built.text("other.html")


@pytest.mark.parametrize("page", chapters((DOCS / f"{LISTS}.md").read_text()))
def test_each_chapter_of_the_guide_is_there(page: str) -> None:
    assert (DOCS / f"{page}.md").is_file()


def test_most_chapters_of_the_guide_have_the_section() -> None:
    pages = chapters((DOCS / f"{LISTS}.md").read_text())
    heading = re.compile(rf"^## {TITLE}$", re.MULTILINE)
    without = {p for p in pages if not heading.search((DOCS / f"{p}.md").read_text())}
    assert without <= {"ship/known-crashes-exit"}

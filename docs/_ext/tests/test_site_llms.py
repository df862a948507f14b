# docs/_ext/site_llms.py: the lists hold every page, in order, with its first sentence.
from __future__ import annotations

from pathlib import Path

from site_build import build
from site_llms import Page, full_text, index_text

PAGES = {
    "index.md": (
        "# Front\n\nWelcome here. Read on.\n\n"
        "```{toctree}\n:caption: First part\nz\n```\n\n"
        "```{toctree}\n:caption: Second part\n:hidden:\na/b\n```\n"
    ),
    "z.md": "# Zed\n\n:::{note}\nNot this.\n:::\n\nAbout torch 2.13 and\nmore. Next.\n",
    "a/b.md": "# Bee\n",
}


def test_index_lists_pages_by_part() -> None:
    pages = [
        Page("index", "Start", "Front", "# Front\n\nHello there. Bye."),
        Page("a/b", "Start", "Bee", "# Bee"),
        Page("c", "End", "Sea", "# Sea\n\n- no sentence"),
    ]
    assert index_text(pages, "Small", "A site.", "https://x.y/") == (
        "# Small\n\n> A site.\n\n## Start\n\n"
        "- [Front](https://x.y/index.md): Hello there.\n"
        "- [Bee](https://x.y/a/b.md)\n\n## End\n\n"
        "- [Sea](https://x.y/c.md)\n"
    )


def test_full_text_names_each_page() -> None:
    pages = [Page("a", "", "A", "# A"), Page("b", "", "B", "# B")]
    assert full_text(pages) == "<!-- a.md -->\n\n# A\n\n<!-- b.md -->\n\n# B\n"


def test_build_writes_lists_and_pages(tmp_path: Path) -> None:
    built = build(tmp_path, PAGES)
    assert built.code == 0, built.messages
    assert built.text("llms.txt") == (
        "# Small\n\n> A small site.\n\n## Start\n\n"
        "- [Front](index.md): Welcome here.\n\n## First part\n\n"
        "- [Zed](z.md): About torch 2.13 and more.\n\n## Second part\n\n"
        "- [Bee](a/b.md)\n"
    )
    assert built.text("a/b.md") == "# Bee\n"
    full = built.text("llms-full.txt")
    for name in ("index.md", "z.md", "a/b.md"):
        assert built.text(name).strip() in full


def test_failed_build_writes_no_list(tmp_path: Path) -> None:
    built = build(tmp_path, {"index.md": "# Front\n", "conf_error.md": "# Orphan\n"})
    assert built.code != 0
    assert "conf_error.md" in built.messages

# A site that is built again, with few changes or none, is what a new build makes.
from __future__ import annotations

from pathlib import Path

import pytest
from site_build import Built, build

SETTINGS = 'extensions += ["site_redirects", "site_search", "site_glossary"]'
PAGES = {
    "index.md": "# Front\n\n```{toctree}\npart/page\nlast\n```\n",
    "part/page.md": "# Page\n\n## What is there\n\nText of the page.\n",
    "last.md": "# Last\n\nIts text.\n",
    "redirects.toml": '"part/old" = "part/page#what-is-there"\n',
}
CHANGES = {
    "nothing": {},
    "a page": {"last.md": "# Last\n\nOther text.\n"},
    "a redirect": {"redirects.toml": '"part/old" = "last"\n'},
}


def files(built: Built) -> dict[str, bytes]:
    """What a reader gets: the pages, the lists and the index."""
    return {
        str(path.relative_to(built.out)): path.read_bytes()
        for path in built.out.rglob("*")
        if path.is_file() and path.suffix in (".html", ".md", ".txt", ".xml", ".json")
    }


@pytest.mark.parametrize("change", CHANGES)
def test_a_second_build_is_a_new_one(tmp_path: Path, change: str) -> None:
    changed = {**PAGES, **CHANGES[change]}
    build(tmp_path / "twice", PAGES, settings=SETTINGS)
    twice = build(tmp_path / "twice", changed, settings=SETTINGS, fresh=False)
    assert twice.code == 0, twice.messages
    once = build(tmp_path / "once", changed, settings=SETTINGS)
    assert once.code == 0, once.messages
    assert files(twice) == files(once)
    assert "part/old.html" in files(twice)


def test_a_redirect_is_refused_without_a_page_that_changed(tmp_path: Path) -> None:
    assert build(tmp_path, PAGES, settings=SETTINGS).code == 0
    wrong = {**PAGES, "redirects.toml": '"part/old" = "part/gone"\n'}
    built = build(tmp_path, wrong, settings=SETTINGS, fresh=False)
    assert built.code != 0
    assert "'part/old' leads to 'part/gone', which is no page" in built.messages

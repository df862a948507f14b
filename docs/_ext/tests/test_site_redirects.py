# docs/_ext/site_redirects.py: a removed address leads on, and a wrong one is refused.
from __future__ import annotations

from pathlib import Path

import pytest
import site_redirects
from site_build import build

SETTINGS = 'extensions.append("site_redirects")'
DOCS = Path(__file__).resolve().parents[2]
PAGES = {
    "index.md": "# Front\n\n```{toctree}\npart/page\n```\n",
    "part/page.md": "# Page\n\n## 1. What is *there*\n\nText.\n",
}


@pytest.mark.parametrize(
    ("old", "new", "link"),
    [
        ("part/old", "part/page", "page.html"),
        ("part/old", "part/page#a", "page.html#a"),
        ("part/old", "other/page", "../other/page.html"),
        ("old", "part/page", "part/page.html"),
    ],
)
def test_the_link_is_relative(old: str, new: str, link: str) -> None:
    text = site_redirects.page(old, new, "")
    assert f'content="0; url={link}"' in text
    assert f'<a href="{link}">' in text


def test_the_canonical_address_is_public_and_has_no_anchor() -> None:
    text = site_redirects.page("part/old", "part/page#a", "https://x.y/")
    assert '<link rel="canonical" href="https://x.y/part/page.html">' in text


def test_a_build_writes_the_page_with_the_id_of_the_heading(tmp_path: Path) -> None:
    redirects = '"part/old" = "part/page#1-what-is-there"\n"gone/old" = "part/page"\n'
    pages = {**PAGES, "redirects.toml": redirects}
    built = build(tmp_path, pages, settings=SETTINGS)
    assert built.code == 0, built.messages
    (link,) = [
        part.partition('"')[0]
        for part in built.text("part/old.html").split('href="page.html#')[1:]
        if not part.startswith('">')
    ][-1:]
    assert f'id="{link}"' in built.text("part/page.html")
    assert "../part/page.html" in built.text("gone/old.html")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('"part/page" = "index"', "'part/page' is a page: remove its line"),
        ('"old" = "part/gone"', "'old' leads to 'part/gone', which is no page"),
        ('"old" = "part/page#x"', "leads to 'x', which is no heading of 'part/page'"),
    ],
)
def test_what_leads_nowhere_is_refused(tmp_path: Path, line: str, fault: str) -> None:
    pages = {**PAGES, "redirects.toml": line + "\n"}
    built = build(tmp_path, pages, settings=SETTINGS)
    assert built.code != 0
    assert fault in built.messages


def test_no_redirect_of_the_guide_leads_to_another() -> None:
    redirects = site_redirects.read(DOCS / site_redirects.NAME)
    assert not {new.partition("#")[0] for new in redirects.values()} & set(redirects)

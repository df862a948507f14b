# docs/_ext/site_sitemap.py: every page is listed, with and without a public address.
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from site_build import build
from site_sitemap import sitemap

LOCATION = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
PAGES = {
    "index.md": "# Front\n\n```{toctree}\npart/page\n```\n",
    "part/page.md": "# Page\n",
}


def locations(text: str) -> list[str | None]:
    tree = ElementTree.fromstring(text.encode())
    return [element.text for element in tree.iter(LOCATION)]


def test_public_address_is_put_before_each_page() -> None:
    text = sitemap(["index.html", "a&b.html"], "https://x.y/guide/")
    assert locations(text) == [
        "https://x.y/guide/index.html",
        "https://x.y/guide/a&b.html",
    ]
    assert "Relative" not in text


def test_without_an_address_the_file_says_how_to_set_it() -> None:
    text = sitemap(["index.html"], "")
    assert locations(text) == ["index.html"]
    assert "OPENREG_SITE_URL" in text


def test_build_lists_every_page(tmp_path: Path) -> None:
    built = build(tmp_path, PAGES, base_url="https://x.y/")
    assert built.code == 0, built.messages
    assert locations(built.text("sitemap.xml")) == [
        "https://x.y/index.html",
        "https://x.y/part/page.html",
    ]

# What a host and programs read: 404, sitemap, llms.txt, Markdown, versions, edit link.
from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browsing import REPOSITORY, SCHEMES, open_page
from checks import accessibility_faults, sideways_scroll, watch
from playwright.sync_api import Browser

FENCE = re.compile(r"^[ >]*(`{3,}).*?^[ >]*\1$", re.DOTALL | re.MULTILINE)
LOCATION = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


class CodeBlocks(HTMLParser):
    """The text of every ``<pre>`` of a page, without its callout badges."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.inside = False
        self.badge = False

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag == "pre":
            self.inside = True
            self.blocks.append("")
        self.badge = ("class", "callout") in attributes

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "pre"
        self.badge = False

    def handle_data(self, data: str) -> None:
        if self.inside and not self.badge:
            self.blocks[-1] += data


@pytest.mark.parametrize("missing", ["nothing.html", "a/b/c/nothing.html"])
def test_missing_address_shows_the_404_page(
    chromium: Browser, address: str, missing: str
) -> None:
    for scheme in SCHEMES:
        with open_page(chromium, viewport={"width": 390, "height": 844}) as page:
            page.emulate_media(color_scheme=scheme)
            seen = watch(page, address)
            answer = page.goto(address + missing)
            assert answer is not None
            assert answer.status == 404
            assert "does not exist" in page.locator("h1").inner_text()
            assert accessibility_faults(page) == []
            assert sideways_scroll(page) == []
            assert seen.outside == []


def test_404_page_leads_home_from_any_depth(site: Path) -> None:
    text = (site / "404.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"]+)"', text)
    assert len(links) == 2
    for link in links:
        assert link.startswith("/"), f"{link} breaks below the root"
        assert (site / link.rpartition("/")[2]).is_file(), f"{link} leads nowhere"


def test_sitemap_lists_every_chapter(site: Path, chapters: list[str]) -> None:
    tree = ElementTree.parse(site / "sitemap.xml")
    found = [element.text or "" for element in tree.iter(LOCATION)]
    assert len(found) == len(chapters)
    for chapter in chapters:
        assert any(place.endswith(f"{chapter}.html") for place in found), chapter


def test_llms_txt_lists_every_chapter(site: Path, chapters: list[str]) -> None:
    index = (site / "llms.txt").read_text(encoding="utf-8")
    assert index.startswith("# OpenReg\n\n> ")
    links = re.findall(r"^- \[.+?\]\((.+?)\)", index, re.MULTILINE)
    assert len(links) == len(chapters)
    for chapter in chapters:
        assert any(link.endswith(f"{chapter}.md") for link in links), chapter


def test_llms_full_txt_holds_every_chapter(site: Path, chapters: list[str]) -> None:
    full = (site / "llms-full.txt").read_text(encoding="utf-8")
    for chapter in chapters:
        assert (site / f"{chapter}.md").read_text(encoding="utf-8").strip() in full


def test_markdown_holds_every_code_block_of_the_page(site: Path, chapter: str) -> None:
    markdown = (site / f"{chapter}.md").read_text(encoding="utf-8")
    assert "```{" not in markdown, "a directive was not resolved"
    parser = CodeBlocks()
    parser.feed((site / f"{chapter}.html").read_text(encoding="utf-8"))
    for block in parser.blocks:
        for line in block.splitlines():
            assert line.strip() in markdown, f"{chapter}.md misses {line!r}"


def test_links_between_markdown_pages_lead_to_files(site: Path, chapter: str) -> None:
    markdown = (site / f"{chapter}.md").read_text(encoding="utf-8")
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", markdown))  # kernel[grid](...)
    for link in re.findall(r"\]\((?!https?://|mailto:)([^)#]+)", prose):
        assert ((site / chapter).parent / link).is_file(), f"{chapter}.md: {link}"


def test_every_page_shows_the_versions(site: Path, chapter: str) -> None:
    pin = (REPOSITORY / "requirements" / "torch.txt").read_text(encoding="utf-8")
    version = re.search(r"^torch==(\S+)", pin, re.MULTILINE)
    assert version is not None
    html = (site / f"{chapter}.html").read_text(encoding="utf-8")
    shown = re.findall(r'<p class="site-version">([^<]+)</p>', html)
    assert shown, f"{chapter}.html shows no version"
    assert all(text.endswith(f"for torch {version[1]}") for text in shown), shown


def test_edit_link_names_the_source_of_the_page(site: Path, chapter: str) -> None:
    html = (site / f"{chapter}.html").read_text(encoding="utf-8")
    links = re.findall(r'<a[^>]+href="([^"]+/edit/[^"]+)"', html)
    assert links, f"{chapter}.html has no edit link"
    for link in links:
        assert link.startswith("https://"), f"{chapter}: {link!r}"
        assert link.endswith(f"/edit/main/docs/{chapter}.md"), f"{chapter}: {link!r}"

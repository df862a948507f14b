# Every layout, from file:// and over http: no error, no outside request, no wide page.
from __future__ import annotations

from pathlib import Path

import pytest
from browsing import PHONE, html_pages, open_page
from checks import sideways_scroll, watch
from links import dead_links
from playwright.sync_api import Browser


@pytest.mark.parametrize("origin", ["file", "http"])
def test_page_is_self_contained_and_without_errors(
    chromium: Browser, site: Path, address: str, origin: str, layout_name: str
) -> None:
    base = address if origin == "http" else site.as_uri() + "/"
    with open_page(chromium) as page:
        seen = watch(page, base)
        page.goto(base + layout_name, wait_until="load")
        page.wait_for_function("document.fonts.status === 'loaded'")
    assert not seen.outside, f"{layout_name} asks another machine: {seen.outside}"
    assert not seen.errors, f"{layout_name} reports errors: {seen.errors}"


def test_page_never_scrolls_sideways_on_a_phone(
    chromium: Browser, site: Path, layout_name: str
) -> None:
    with open_page(chromium, viewport=PHONE) as page:
        page.goto((site / layout_name).as_uri())
        faults = sideways_scroll(page)
    assert not faults, f"{layout_name} is wider than {PHONE['width']} px: {faults}"


def test_no_link_is_dead(site: Path) -> None:
    pages = [name for name in html_pages(site) if name != "404.html"]
    faults = dead_links(site, pages)
    assert not faults, "dead links:\n" + "\n".join(faults)

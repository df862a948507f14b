# Every layout, from file:// and over http: no error, no outside request, no wide page.
"""axe looks for violations of WCAG 2.1, A and AA. Colors depend on the scheme, widths
on the viewport: a light desktop, over http, and a dark phone, from file://, see each of
them with half of the pages opened that all combinations need.
"""

from __future__ import annotations

from pathlib import Path

from browsing import DESKTOP, PHONE, html_pages, open_page
from checks import accessibility_faults, sideways_scroll, watch
from links import dead_links
from playwright.sync_api import Browser, Page


def open_whole(page: Page, origin: str, name: str) -> None:
    """Open a page of a site; it makes no outside request and reports no error."""
    seen = watch(page, origin)
    page.goto(origin + name, wait_until="load")
    page.wait_for_function("document.fonts.status === 'loaded'")
    page.unroute_all()  # the checks may ask for what they like
    assert not seen.outside, f"{name} asks another machine: {seen.outside}"
    assert not seen.errors, f"{name} reports errors: {seen.errors}"


def assert_whole_accessible_and_narrow(page: Page, origin: str, name: str) -> None:
    open_whole(page, origin, name)
    wide = sideways_scroll(page)
    faults = accessibility_faults(page)
    assert not wide, f"{name} is too wide at {page.viewport_size}: {wide}"
    assert not faults, f"{name} at {page.viewport_size}:\n" + "\n".join(faults)


def test_page_is_right_on_a_light_desktop_over_http(
    chromium: Browser, address: str, layout_name: str
) -> None:
    with open_page(chromium, viewport=DESKTOP, scheme="light") as page:
        assert_whole_accessible_and_narrow(page, address, layout_name)


def test_page_is_right_on_a_dark_phone_from_file(
    chromium: Browser, site: Path, layout_name: str
) -> None:
    with open_page(chromium, viewport=PHONE, scheme="dark") as page:
        assert_whole_accessible_and_narrow(page, site.as_uri() + "/", layout_name)


def test_no_link_is_dead(site: Path) -> None:
    pages = [name for name in html_pages(site) if name != "404.html"]
    faults = dead_links(site, pages)
    assert not faults, "dead links:\n" + "\n".join(faults)

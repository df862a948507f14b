# Every layout, from file:// and over http: no error, no outside request, no wide page.
"""axe looks for violations of WCAG 2.1, A and AA. Colors depend on the scheme, widths
on the viewport: a light desktop, over http, and a dark phone, from file://, see each of
them with half of the pages opened that all combinations need.
"""

from __future__ import annotations

from pathlib import Path

from browsing import Tab, html_pages
from checks import accessibility_faults, copy_faults, sideways_scroll
from links import dead_links


def assert_whole_accessible_and_narrow(tab: Tab, name: str) -> None:
    """A page makes no outside request, reports no error, and has no other fault."""
    tab.open(name)
    page, seen = tab.page, tab.seen
    page.wait_for_function("document.fonts.status === 'loaded'")
    assert not seen.outside, f"{name} asks another machine: {seen.outside}"
    assert not seen.errors, f"{name} reports errors: {seen.errors}"
    wide = sideways_scroll(page)
    faults = accessibility_faults(page, tab.looks)
    assert not wide, f"{name} is too wide at {page.viewport_size}: {wide}"
    assert not faults, f"{name} at {page.viewport_size}:\n" + "\n".join(faults)


def test_page_is_right_on_a_light_desktop_over_http(
    desktop: Tab, layout_name: str
) -> None:
    assert_whole_accessible_and_narrow(desktop, layout_name)
    assert copy_faults(desktop.page) == [], layout_name


def test_page_is_right_on_a_dark_phone_from_file(phone: Tab, layout_name: str) -> None:
    assert_whole_accessible_and_narrow(phone, layout_name)


def test_no_link_is_dead(site: Path) -> None:
    pages = [name for name in html_pages(site) if name != "404.html"]
    faults = dead_links(site, pages)
    assert not faults, "dead links:\n" + "\n".join(faults)

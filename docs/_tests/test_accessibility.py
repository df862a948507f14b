# axe finds no violation of WCAG 2.1 A or AA on any layout, in light and dark.
from __future__ import annotations

from pathlib import Path

import pytest
from browsing import DESKTOP, PHONE, SCHEMES, open_page
from checks import accessibility_faults, hidden_focus
from playwright.sync_api import Browser


# Colours depend on the scheme and widths on the viewport: two runs see each of them.
@pytest.mark.parametrize(
    ("viewport", "scheme"),
    [(DESKTOP, "light"), (PHONE, "dark")],
    ids=["desktop-light", "phone-dark"],
)
def test_axe_finds_no_violation(
    chromium: Browser, site: Path, viewport: dict, scheme: str, layout_name: str
) -> None:
    with open_page(chromium, viewport=viewport, scheme=scheme) as page:
        page.goto((site / layout_name).as_uri())
        faults = accessibility_faults(page)
    assert not faults, f"{layout_name}, {scheme}:\n" + "\n".join(faults)


def test_axe_finds_no_violation_in_the_open_search(
    chromium: Browser, site: Path
) -> None:
    for scheme in SCHEMES:
        with open_page(chromium, scheme=scheme) as page:
            page.goto((site / "index.html").as_uri())
            page.keyboard.press("Control+k")
            page.locator("#pst-search-dialog[open]").wait_for()
            faults = accessibility_faults(page)
        assert not faults, f"search dialog, {scheme}:\n" + "\n".join(faults)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_keyboard_focus_is_visible(chromium: Browser, site: Path, scheme: str) -> None:
    with open_page(chromium, scheme=scheme) as page:
        page.goto((site / "index.html").as_uri())
        faults = hidden_focus(page, steps=30)
    assert not faults, f"{scheme}: " + "\n".join(faults)

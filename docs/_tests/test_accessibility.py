# The open search dialog, in light and dark, and the focus; test_pages.py has the pages.
from __future__ import annotations

from pathlib import Path

import pytest
from browsing import SCHEMES, open_page
from checks import accessibility_faults, hidden_focus
from playwright.sync_api import Browser


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

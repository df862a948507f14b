# Search works from a web server and from file://, by page and by Ctrl+K.
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import open_page
from checks import watch
from playwright.sync_api import Browser, Page

SYMBOL = "PrivateUse1"  # the dispatch key that the whole guide is about


@pytest.fixture(params=["file", "http"])
def origin(request: pytest.FixtureRequest, site: Path, address: str) -> str:
    return address if request.param == "http" else site.as_uri() + "/"


@pytest.fixture
def page(chromium: Browser, origin: str) -> Iterator[Page]:
    with open_page(chromium) as page:
        seen = watch(page, origin)
        yield page
        assert not seen.errors, f"search reports errors: {seen.errors}"


def found_pages(page: Page) -> list[str]:
    """Wait until the search has finished; return the links it found."""
    page.locator("#search-results .search-summary:not(:empty)").wait_for()
    links = page.locator("#search-results ul.search a")
    return [link.get_attribute("href") or "" for link in links.all()]


def test_search_finds_a_symbol(page: Page, origin: str) -> None:
    page.goto(f"{origin}search.html?q={SYMBOL}")
    found = found_pages(page)
    assert any("index.html" in link for link in found), f"{SYMBOL}: found {found}"


def test_search_says_when_it_finds_nothing(page: Page, origin: str) -> None:
    page.goto(f"{origin}search.html?q=xyzzyplughqwerty")
    assert found_pages(page) == []
    assert "did not match" in page.locator("#search-results").inner_text()


def test_control_k_opens_the_search_and_enter_runs_it(page: Page, origin: str) -> None:
    page.goto(f"{origin}index.html")
    dialog = page.locator("#pst-search-dialog")
    assert not dialog.is_visible(), "the search dialog is open before Ctrl+K"
    page.keyboard.press("Control+k")
    dialog.wait_for(state="visible")
    page.keyboard.type(SYMBOL)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    assert found_pages(page), f"Ctrl+K found nothing for {SYMBOL}"

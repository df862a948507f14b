# Search works from a web server and from file://, by page and by Ctrl+K.
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import open_page, open_tab
from playwright.sync_api import Browser, Page
from questions import QUESTIONS

SYMBOL = "PrivateUse1"  # the dispatch key that the whole guide is about


@pytest.fixture(params=["file", "http"])
def origin(request: pytest.FixtureRequest, site: Path, address: str) -> str:
    return address if request.param == "http" else site.as_uri() + "/"


@pytest.fixture
def page(chromium: Browser, origin: str) -> Iterator[Page]:
    with open_tab(chromium, origin) as tab:
        yield tab.page
        assert not tab.seen.errors, f"search reports errors: {tab.seen.errors}"


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


# What the search box does with a query, without the page that shows the results.
ASK = """questions => questions.map(question =>
  Search._performSearch(...Search._parseQuery(question))
    .slice(-3).reverse().map(result => result[0]))"""


def test_each_question_finds_its_page(chromium: Browser, site: Path) -> None:
    """One load of the index; the functions are those that the search page calls."""
    with open_page(chromium) as page:
        page.goto(f"{site.as_uri()}/search.html?q={SYMBOL}")
        shown = found_pages(page)
        asked = [SYMBOL, *QUESTIONS]
        first, *answers = page.evaluate(ASK, asked)
    assert [f"{name}.html" for name in first] == [
        link.partition("?")[0].partition("#")[0] for link in shown[:3]
    ], "the page shows other results than these functions"
    missed = {
        question: found
        for (question, name), found in zip(QUESTIONS.items(), answers, strict=True)
        if name not in found
    }
    assert not missed, f"not among the first three: {missed}"


def test_the_questions_are_enough(chapters: list[str]) -> None:
    assert len(QUESTIONS) >= 40
    assert set(QUESTIONS.values()) <= set(chapters)

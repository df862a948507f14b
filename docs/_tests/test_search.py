# Search works from a web server and from file://, by page and by Ctrl+K.
from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import REPOSITORY, open_page, open_tab
from playwright.sync_api import Browser, Page

SYMBOL = "PrivateUse1"  # the dispatch key that the whole guide is about
INDEX_SIZE = 1_000_000  # bytes
FIRST = 3  # results, of which one must be the page
SHARE = 11 / 12  # of the queries must be answered
ASK = """async queries => {
  await siteSearch.ready();
  return queries.map(query => siteSearch.search(query).map(
    record => [record.kind, record.page.name, record.name]));
}"""
QUERIES = tomllib.loads(
    Path(__file__).with_name("queries.toml").read_text(encoding="utf-8")
)
Hit = tuple[str, str, str]  # kind, page, name


@pytest.fixture(params=["file", "http"])
def origin(request: pytest.FixtureRequest, site: Path, address: str) -> str:
    return address if request.param == "http" else site.as_uri() + "/"


@pytest.fixture
def page(chromium: Browser, origin: str) -> Iterator[Page]:
    with open_tab(chromium, origin) as tab:
        yield tab.page
        assert not tab.seen.errors, f"search reports errors: {tab.seen.errors}"


def found_pages(page: Page, query: str, box: str = "#search-results") -> list[str]:
    """Wait until the search for a query has finished; return the links it found."""
    page.locator(f'{box}[data-query="{query}"]').wait_for()
    links = page.locator(f"{box} .search-hits a")
    return [link.get_attribute("href") or "" for link in links.all()]


def test_search_finds_a_symbol_and_says_when_it_finds_nothing(
    page: Page, origin: str
) -> None:
    page.goto(f"{origin}search.html?q={SYMBOL}")
    assert found_pages(page, SYMBOL), f"nothing found for {SYMBOL}"
    field = page.locator("form.site-search input")
    field.fill("xyzzyplughqwerty")
    assert found_pages(page, "xyzzyplughqwerty") == []
    assert page.get_by_text("did not match").is_visible()


def test_control_k_shows_results_and_enter_runs_the_search(
    page: Page, origin: str
) -> None:
    page.goto(f"{origin}index.html")
    dialog = page.locator("#pst-search-dialog")
    assert not dialog.is_visible(), "the search dialog is open before Ctrl+K"
    page.keyboard.press("Control+k")
    dialog.wait_for(state="visible")
    page.keyboard.type("autocast")
    found = found_pages(page, "autocast", "#pst-search-dialog .search-results")[:FIRST]
    assert any(link.startswith("./modules/amp.html") for link in found), found
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    assert found_pages(page, "autocast"), "Ctrl+K found nothing"


@pytest.fixture(scope="module")
def answers(chromium: Browser, site: Path) -> dict[str, list[Hit]]:
    """The results of all queries, after one page was loaded."""
    issues = [title.partition(": ")[2] for title in QUERIES["issues"]]
    asked = [*QUERIES["questions"], *issues, *QUERIES["messages"]]
    with open_page(chromium) as page:
        page.goto(f"{site.as_uri()}/index.html")
        return dict(zip(asked, page.evaluate(ASK, asked), strict=True))


def test_queries_find_their_pages(answers: dict[str, list[Hit]]) -> None:
    wanted = QUERIES["questions"] | {
        title.partition(": ")[2]: pages for title, pages in QUERIES["issues"].items()
    }
    missed = {
        query: found
        for query, pages in wanted.items()
        if not set(pages) & set(found := [hit[1] for hit in answers[query][:FIRST]])
    }
    answered = len(wanted) - len(missed)
    assert answered >= SHARE * len(wanted), f"{answered} of {len(wanted)}: {missed}"


def test_the_first_result_of_a_message_is_its_row(
    answers: dict[str, list[Hit]],
) -> None:
    """The row is the one that ``--explain`` shows first: both use its patterns."""
    sys.path.insert(0, str(REPOSITORY / "openreg"))
    from torch_openreg_diagnose._explain import explain

    for message in QUERIES["messages"]:
        row = explain(message)[0]
        kind, page, name = answers[message][0]
        assert (kind, name) == ("error", row["seen"].replace("`", "")), message
        assert row["page"].startswith(f"{page}.md"), message


def test_there_are_enough_queries_and_their_pages_exist(chapters: list[str]) -> None:
    assert len(QUERIES["questions"]) >= 30
    assert len(QUERIES["issues"]) >= 30
    for query, pages in (QUERIES["questions"] | QUERIES["issues"]).items():
        assert set(pages) & set(chapters), f"{query}: no page of {pages} exists"


def test_the_index_is_small(site: Path) -> None:
    assert (site / "_static/search/index.js").stat().st_size < INDEX_SIZE

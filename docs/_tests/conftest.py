# Gives the browser tests the built site, a browser, and one test per page.
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import (
    PHONE,
    Tab,
    html_pages,
    launch,
    open_tab,
    redirects,
    serve,
    site_folder,
)
from playwright.sync_api import Browser, sync_playwright

FILE_PAGES = "_files/"  # docs/_ext/snippet_contract/source_pages.py writes them


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each page that it names in its arguments.

    ``layout_name``: every page, but of those that show a source file only the longest
    of each language; a template made them all alike.
    ``chapter``: what the guide's authors wrote, without suffix.
    """
    wanted = {"layout_name", "chapter"} & set(metafunc.fixturenames)
    if not wanted:
        return
    try:
        folder = site_folder()
    except FileNotFoundError as error:
        raise pytest.UsageError(str(error)) from None
    pages = html_pages(folder)
    # A host serves 404.html at another address; test_published_files.py has it. An old
    # address leads to a page that is opened anyway; test_no_link_is_dead reads it.
    left_out = {"404.html", *redirects(folder)}
    reachable = [name for name in pages if name not in left_out]
    if "layout_name" in wanted:
        metafunc.parametrize("layout_name", layouts(folder, reachable))
    if "chapter" in wanted:
        stems = [name.removesuffix(".html") for name in pages]
        written = [stem for stem in stems if (folder / f"{stem}.md").is_file()]
        metafunc.parametrize("chapter", written)


def layouts(folder: Path, pages: list[str]) -> list[str]:
    """Leave out source files but for the longest of each language."""
    by_length = sorted(pages, key=lambda name: (folder / name).stat().st_size)
    longest = {
        Path(name).with_suffix("").suffix: name
        for name in by_length
        if name.startswith(FILE_PAGES)
    }
    return [
        name
        for name in pages
        if not name.startswith(FILE_PAGES) or name in longest.values()
    ]


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built site."""
    return site_folder()


@pytest.fixture(scope="session")
def chapters(site: Path) -> list[str]:
    """List the pages that the guide's authors wrote, without their suffix."""
    stems = [name.removesuffix(".html") for name in html_pages(site)]
    return [stem for stem in stems if (site / f"{stem}.md").is_file()]


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site; return its address."""
    with serve(site) as url:
        yield url


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start one browser for all tests; each test opens its own profile in it."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def desktop(chromium: Browser, address: str) -> Iterator[Tab]:
    """Open a light desktop that reads the site over http."""
    with open_tab(chromium, address) as tab:
        yield tab


@pytest.fixture(scope="session")
def phone(chromium: Browser, site: Path) -> Iterator[Tab]:
    """Open a dark phone that reads the site from file://."""
    origin = site.as_uri() + "/"
    with open_tab(chromium, origin, viewport=PHONE, scheme="dark") as tab:
        yield tab

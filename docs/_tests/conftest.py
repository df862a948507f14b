# Gives the browser tests the built site, a browser, and one test per page.
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import html_pages, launch, serve, site_folder
from playwright.sync_api import Browser, sync_playwright


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with ``page_name`` or ``chapter`` once for each page of the site."""
    wanted = {"page_name", "chapter"} & set(metafunc.fixturenames)
    if not wanted:
        return
    try:
        folder = site_folder()
    except FileNotFoundError as error:
        raise pytest.UsageError(str(error)) from None
    pages = html_pages(folder)
    if "page_name" in wanted:
        # A host serves 404.html at another address; test_published_files.py has it.
        metafunc.parametrize(
            "page_name", [name for name in pages if name != "404.html"]
        )
    if "chapter" in wanted:
        stems = [name.removesuffix(".html") for name in pages]
        written = [stem for stem in stems if (folder / f"{stem}.md").is_file()]
        metafunc.parametrize("chapter", written)


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

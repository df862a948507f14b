# Finds Chromium, serves the built site and opens pages; every browser test uses it.
"""The tests drive the distribution's Chromium through Playwright for Python."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from checks import Looks, Watch, watch
from playwright.sync_api import Browser, Page, Playwright

REPOSITORY = Path(__file__).resolve().parents[2]
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no other host
]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
SCHEMES = ("light", "dark")
PAGES_OF_A_TAB = 25


def site_folder() -> Path:
    """Return the folder of the built site: OPENREG_SITE, or build/site."""
    folder = Path(os.environ.get("OPENREG_SITE") or REPOSITORY / "build" / "site")
    if not (folder / "index.html").is_file():
        raise FileNotFoundError(
            f"{folder}/index.html does not exist: build the site first (nox -s docs), "
            "or name its folder in OPENREG_SITE"
        )
    return folder.resolve()


def html_pages(folder: Path) -> list[str]:
    """List every page of the site, relative to its folder."""
    files = (path.relative_to(folder) for path in folder.rglob("*.html"))
    return sorted(path.as_posix() for path in files if path.parts[0] != "_static")


def redirects(folder: Path) -> set[str]:
    """List the pages that only send their reader on; site_redirects.py writes them."""
    return {
        name
        for name in html_pages(folder)
        if 'http-equiv="refresh"' in (folder / name).read_text(encoding="utf-8")[:500]
    }


def find_chromium() -> str:
    """Return the browser's path: OPENREG_CHROMIUM, or the first one installed."""
    named = os.environ.get("OPENREG_CHROMIUM")
    candidates = [named] if named else CHROMIUM_NAMES
    for candidate in candidates:
        if path := shutil.which(candidate):
            return path
    raise FileNotFoundError(
        f"no browser found, looked for {', '.join(candidates)}: install Debian's "
        "chromium, or name a Chromium in OPENREG_CHROMIUM"
    )


def launch(playwright: Playwright) -> Browser:
    """Start a headless Chromium."""
    return playwright.chromium.launch(
        executable_path=find_chromium(), args=CHROMIUM_FLAGS
    )


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Keep the test output readable."""

    def send_error(self, code: int, *args: object, **kwargs: object) -> None:
        """Answer a missing address with 404.html, as a host of static pages does."""
        page = Path(self.directory, "404.html")
        if code != 404 or not page.is_file():
            super().send_error(code, *args, **kwargs)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve the folder on a free local port; yields its address, ending in a slash."""
    handler = functools.partial(_QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def open_page(
    browser: Browser, *, viewport: dict = DESKTOP, scheme: str = "light"
) -> Iterator[Page]:
    """Open an empty page in a fresh profile, so that no test sees another's state."""
    context = browser.new_context(
        viewport=viewport,
        color_scheme=scheme,
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    try:
        yield context.new_page()
    finally:
        context.close()


@dataclass
class Tab:
    """A tab that goes from page to page, which takes a third of a tab for each page.

    It is for tests that only look: what a page leaves behind, as the color mode, the
    next one finds.
    """

    page: Page
    origin: str
    seen: Watch
    opened: int = 0
    looks: Looks = field(default_factory=Looks)

    def open(self, name: str) -> None:
        """Go to a page of the site, and record what it does from now on.

        One process renders all pages of a tab and keeps their scripts, until it has no
        memory left. So another tab follows after some pages.
        """
        self.opened += 1
        if self.opened % PAGES_OF_A_TAB == 0:
            former, self.page = self.page, self.page.context.new_page()
            former.close()
            self.seen = watch(self.page, self.origin)
        self.seen.forget()
        self.page.goto(self.origin + name)


@contextmanager
def open_tab(
    browser: Browser, origin: str, *, viewport: dict = DESKTOP, scheme: str = "light"
) -> Iterator[Tab]:
    """Open a watched tab for the pages of ``origin``, which ends in a slash."""
    with open_page(browser, viewport=viewport, scheme=scheme) as page:
        yield Tab(page, origin, watch(page, origin))

# Writes pictures of the site's pages: desktop and phone, light and dark.
"""Use: ``python docs/_tests/screenshots.py OUT [PAGE ...]``; all pages without PAGE.

OPENREG_SITE names the built site (default build/site), as in the tests.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from browsing import DESKTOP, PHONE, SCHEMES, html_pages, launch, open_page, site_folder
from playwright.sync_api import sync_playwright

VIEWPORTS = {"desktop": DESKTOP, "phone": PHONE}


def take(site: Path, out: Path, pages: list[str], whole: bool) -> list[Path]:
    """Write one PNG per page, viewport and scheme; return their paths."""
    written = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for device, viewport in VIEWPORTS.items():
            for scheme in SCHEMES:
                with open_page(browser, viewport=viewport, scheme=scheme) as page:
                    for name in pages:
                        page.goto((site / name).as_uri())
                        stem = name.removesuffix(".html").replace("/", "-")
                        target = out / f"{stem}-{device}-{scheme}.png"
                        page.screenshot(path=target, full_page=whole)
                        written.append(target)
        browser.close()
    return written


def main(arguments: list[str]) -> int:
    """Read the command line and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for the PNG files")
    parser.add_argument("pages", nargs="*", help="such as start/quickstart.html")
    parser.add_argument("--fold", action="store_true", help="only the first screen")
    options = parser.parse_args(arguments)
    site = site_folder()
    known = html_pages(site)
    if unknown := [name for name in options.pages if name not in known]:
        parser.error(f"no such page: {', '.join(unknown)}; known: {', '.join(known)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for path in take(site, options.out, options.pages or known, not options.fold):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# No table is cut off, on a phone, a tablet or a desktop; docs/_static/tables.css.
"""Loads the pages with the widest tables, and those of OPENREG_TABLE_PAGES, once."""

from __future__ import annotations

import os
import re
from pathlib import Path

from browsing import open_tab
from playwright.sync_api import Browser

WIDTHS = (390, 820, 1440)
PAGES = 15
NAMED = ["ship/driver-map", "reference/error-index", "start/features"]
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
# A table, or the text of a cell, that reaches past the column of the text.
CUT_OFF = """() => {
  const edge = document.querySelector(".bd-article").getBoundingClientRect().right + 1;
  const shown = (box) => box.width > 0 && box.height > 1;
  const faults = [];
  for (const table of document.querySelectorAll(".bd-article table")) {
    const parts = [table, ...table.querySelectorAll("td, th, td *, th *")].filter(
      (part) => shown(part.getBoundingClientRect()) && !part.closest("thead.hidden"));
    const wide = parts.find((part) => part.getBoundingClientRect().right > edge
      || (/^T[DH]$/.test(part.tagName) && part.scrollWidth > part.clientWidth + 1));
    if (wide && getComputedStyle(wide.closest("thead") || wide).position !== "absolute")
      faults.push(`${wide.tagName} "${wide.textContent.trim().slice(0, 50)}" reaches ` +
        `${Math.round(wide.getBoundingClientRect().right)} of ${Math.round(edge)} px`);
  }
  return faults;
}"""


def width_of(html: str) -> int:
    """The columns of a page's widest table, and the letters of its longest row."""
    rows = ROW.findall(html)
    letters = max((len(TAG.sub("", row)) for row in rows), default=0)
    return max((row.count("<td") for row in rows), default=0) * 1000 + letters


def widest(site: Path, chapters: list[str]) -> list[str]:
    """The pages with the widest tables, and those that somebody names."""
    widths = {name: width_of((site / f"{name}.html").read_text()) for name in chapters}
    named = [*NAMED, *os.environ.get("OPENREG_TABLE_PAGES", "").split()]
    first = sorted(widths, key=lambda name: -widths[name])[:PAGES]
    return list(dict.fromkeys([*first, *(name for name in named if name in widths)]))


def test_no_table_is_cut_off(
    chromium: Browser, site: Path, address: str, chapters: list[str]
) -> None:
    faults = []
    with open_tab(chromium, address) as tab:
        for name in widest(site, chapters):
            tab.open(f"{name}.html")
            for width in WIDTHS:
                tab.page.set_viewport_size({"width": width, "height": 900})
                found = tab.page.evaluate(CUT_OFF)
                faults += [f"{name} at {width} px: {fault}" for fault in found]
    assert not faults, "\n".join(faults)


def test_a_table_that_is_cut_off_is_found(chromium: Browser) -> None:
    """The check can fail."""
    row = "<tr><td><code style='white-space: nowrap'>" + "x" * 300 + "</code></td></tr>"
    with open_tab(chromium, "about:blank") as tab:
        tab.page.set_content(f"<div class='bd-article'><table>{row}</table></div>")
        tab.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        tab.page.add_style_tag(content=".bd-article { width: 300px }")
        assert tab.page.evaluate(CUT_OFF)


def test_the_filter_hides_rows(chromium: Browser, address: str) -> None:
    with open_tab(chromium, address) as tab:
        tab.open("reference/error-index.html")
        rows = tab.page.locator(".bd-article tbody tr")
        before = rows.count()
        tab.page.locator(".table-filter").fill("memory grows")
        visible = [row for row in rows.all() if row.is_visible()]
        assert 0 < len(visible) < before
        for row in visible:
            assert {"memory", "grows"} <= set(
                re.findall(r"\w+", row.inner_text().lower())
            )

# What a reader can press: copy buttons, tabs, the color mode, next.
from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from browsing import open_page
from playwright.sync_api import Browser, Page

NEXT = re.compile(r'<a class="right-next"\s+href="([^"]+)"')
PREVIOUS = re.compile(r'<a class="left-prev"\s+href="([^"]+)"')


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with open_page(chromium) as page:
        yield page


def test_copy_button_can_be_pressed_from_file(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    block = page.locator("div.highlight-pycon").first
    block.hover()
    block.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import torch\n"), f"copied {copied!r}"


def test_front_page_has_tabs_and_every_tab_switches(
    page: Page, site: Path, address: str, chapters: list[str]
) -> None:
    switched = 0
    for chapter in chapters:
        if "sd-tab-set" not in (site / f"{chapter}.html").read_text():
            continue
        page.goto(f"{address}{chapter}.html")
        for tabs in page.locator(".sd-tab-set").all():
            contents = tabs.locator("> .sd-tab-content")
            for number, label in enumerate(tabs.locator("> label").all()):
                label.click()
                visible = [content.is_visible() for content in contents.all()]
                wanted = [index == number for index in range(len(visible))]
                assert visible == wanted, f"{chapter}: tab {label.inner_text()!r}"
                switched += 1
    assert switched >= 2, "no page has tabs, so nothing was tried"


def test_tabs_work_with_the_keyboard(page: Page, address: str) -> None:
    page.goto(f"{address}index.html")
    tabs = page.locator(".sd-tab-set").first
    tabs.locator("> input").first.focus()
    page.keyboard.press("ArrowRight")
    assert tabs.locator("> .sd-tab-content").nth(1).is_visible()


def test_colour_mode_switches_and_is_kept(page: Page, address: str) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page.goto(f"{address}index.html")
    colors = {}
    for mode in ("light", "dark"):
        page.locator(".bd-header .theme-switch-button:visible").click()
        page.locator(f".theme-change-button[data-mode={mode}]:visible").click()
        assert page.locator("html").get_attribute("data-theme") == mode
        page.reload()
        assert page.locator("html").get_attribute("data-theme") == mode, "not kept"
        colors[mode] = page.evaluate(background)
    assert colors["light"] != colors["dark"], f"both modes show {colors['light']}"


def test_next_can_be_pressed(page: Page, address: str) -> None:
    page.goto(f"{address}index.html")
    page.locator("a.right-next").click()
    page.wait_for_load_state()
    assert page.locator("a.left-prev").count() == 1
    page.locator("a.left-prev").click()
    page.wait_for_load_state()
    assert page.url == f"{address}index.html"


def test_next_leads_through_every_chapter(site: Path, chapters: list[str]) -> None:
    visited = ["index.html"]
    while following := NEXT.search((site / visited[-1]).read_text()):
        here = (site / visited[-1]).parent / unescape(following[1])
        visited.append(here.resolve().relative_to(site).as_posix())
        assert PREVIOUS.search((site / visited[-1]).read_text()), visited[-1]
        assert len(visited) <= len(chapters), f"next leads in circles: {visited}"
    pages = {f"{chapter}.html" for chapter in chapters}
    assert len(visited) == len(set(visited))
    # Tables that the sidebar leaves out have neither link; tests/test_page_order.py.
    left = pages - set(visited)
    assert not [name for name in left if PREVIOUS.search((site / name).read_text())]
    assert all(name.startswith("reference/") for name in left), left

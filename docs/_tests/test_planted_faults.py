# Each check is shown a page with the fault it must see, and one without.
from __future__ import annotations

from pathlib import Path

import pytest
from browsing import PHONE, find_chromium, open_page, site_folder
from checks import (
    Looks,
    accessibility_faults,
    copy_faults,
    hidden_focus,
    sideways_scroll,
    watch,
)
from links import dead_links
from playwright.sync_api import Browser

GOOD = "<p>Nothing is wrong here.</p>"
PALE = "color: #aaa; background: #fff"
TOKENS = "<span>one</span> <span>two</span>"
CODE = '<div class="highlight"><pre>{}</pre></div>'


def write_page(folder: Path, body: str, name: str = "page.html") -> str:
    """Write a page that is right but for its body; return its address."""
    (folder / name).write_text(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="icon" href="data:,"><title>A page</title></head>'
        f"<body><main><h1>A page</h1>{body}</main></body></html>",
        encoding="utf-8",
    )
    return (folder / name).as_uri()


def test_outside_request_is_seen_and_blocked(chromium: Browser, tmp_path: Path) -> None:
    """The host is an address: the browser refuses it, not a resolver."""
    place = "https://192.0.2.1/picture.png"
    image = f'<img alt="a picture" src="{place}">'
    for body, wanted in ((GOOD, []), (image, [place])):
        failures: list[str | None] = []
        with open_page(chromium) as page:
            seen = watch(page, tmp_path.as_uri())
            page.on("requestfailed", lambda it, told=failures: told.append(it.failure))
            page.goto(write_page(tmp_path, body))
        assert [text.partition(": ")[2] for text in seen.outside] == wanted
        assert failures == ["net::ERR_NAME_NOT_RESOLVED"] * len(wanted)


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("console.error('it broke')", "it broke"),
        ("missing_function()", "missing_function"),
        ("fetch('missing.json')", "missing.json"),
    ],
)
def test_error_is_seen(
    chromium: Browser, tmp_path: Path, script: str, wanted: str
) -> None:
    with open_page(chromium) as page:
        seen = watch(page, tmp_path.as_uri())
        page.goto(write_page(tmp_path, GOOD))
        assert seen.errors == []
        page.goto(write_page(tmp_path, f"<script>{script}</script>"))
        for _ in range(100):
            if not seen.errors:
                page.wait_for_timeout(100)
    assert any(wanted in error for error in seen.errors), seen.errors


def test_text_that_is_cut_off_is_seen(chromium: Browser, tmp_path: Path) -> None:
    long = f'<div style="overflow: hidden; width: 90px"><h1>{"a/" * 99}</h1></div>'
    with open_page(chromium) as page:
        page.goto(write_page(tmp_path, GOOD + long))
        (fault,) = sideways_scroll(page)
    assert fault.startswith('"a/a/')


def test_wide_element_is_seen(chromium: Browser, tmp_path: Path) -> None:
    wide = '<div style="width: 900px">wide</div>'
    framed = f'<div style="overflow-x: auto">{wide}</div>'
    with open_page(chromium, viewport=PHONE) as page:
        page.goto(write_page(tmp_path, GOOD + framed))
        assert sideways_scroll(page) == []
        page.goto(write_page(tmp_path, GOOD + wide))
        faults = sideways_scroll(page)
    assert faults, "a 900 px element was not seen"
    assert any("<div" in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (f'<p style="{PALE}">pale</p>', "color-contrast"),
        (CODE.format(f'{TOKENS} <span style="{PALE}">three</span>'), "color-contrast"),
        (
            CODE.format(TOKENS) + f'<div style="{PALE}">{CODE.format(TOKENS)}</div>',
            "color-contrast",
        ),
        (
            f"<style>.b {{ {PALE} }}</style>"
            + CODE.format(f'{TOKENS} <span class="b">three</span>'),
            "color-contrast",
        ),
        ('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', "image-alt"),
        ('<a href="page.html"></a>', "link-name"),
        ("<button></button>", "button-name"),
    ],
)
def test_accessibility_fault_is_seen(
    chromium: Browser, tmp_path: Path, body: str, rule: str
) -> None:
    looks = Looks()  # a later page of a tab must show its new faults
    with open_page(chromium) as page:
        page.goto(write_page(tmp_path, GOOD))
        assert accessibility_faults(page, looks) == []
        page.goto(write_page(tmp_path, body))
        faults = accessibility_faults(page, looks)
    assert any(fault.startswith(rule) for fault in faults), faults


def test_hidden_focus_is_seen(chromium: Browser, tmp_path: Path) -> None:
    good = '<a href="page.html" style="outline: 2px solid">a link</a>'
    bad = good.replace("2px solid", "none")
    with open_page(chromium) as page:
        page.goto(write_page(tmp_path, good))
        assert hidden_focus(page, steps=1) == []
        page.goto(write_page(tmp_path, bad))
        assert len(hidden_focus(page, steps=1)) == 1


BLOCK = (
    '<div class="highlight-pycon"><div class="highlight"><pre>{}</pre>{}</div></div>'
)
BUTTON = (
    '<button class="copybtn" onclick="navigator.clipboard.writeText({})">Copy</button>'
)


@pytest.mark.parametrize(
    ("button", "wanted"),
    [
        (BUTTON.format("'1 + 1'"), []),
        (BUTTON.format("'>>> 1 + 1'"), ["block 0: copied '>>> 1 + 1', not ['1 + 1']"]),
        (BUTTON.format("'1 + 1\\n2'"), ["block 0: copied '1 + 1\\n2', not ['1 + 1']"]),
        ("", ["0 buttons, 1 blocks", "block 0 has no copy button"]),
    ],
)
def test_wrong_copy_is_seen(
    chromium: Browser, tmp_path: Path, button: str, wanted: list[str]
) -> None:
    with open_page(chromium) as page:
        page.goto(write_page(tmp_path, BLOCK.format("&gt;&gt;&gt; 1 + 1\n2", button)))
        assert copy_faults(page) == wanted


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("other.html#there", None),
        ("https://example.com/", None),
        ("missing.html", "leads to no file"),
        ("other.html#missing", "has no anchor"),
        ("#missing", "has no anchor"),
        ("../outside.html", "leads to no file"),
        ("/other.html", "root of a host"),
    ],
)
def test_dead_link_is_seen(tmp_path: Path, link: str, wanted: str | None) -> None:
    write_page(tmp_path, f'<a href="{link}">a link</a>')
    write_page(tmp_path, '<p id="there">here</p>', "other.html")
    faults = dead_links(tmp_path, ["other.html", "page.html"])
    assert [wanted in fault for fault in faults] == ([True] if wanted else [])


def test_missing_site_says_what_to_do(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("OPENREG_SITE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="build the site first"):
        site_folder()


def test_missing_browser_says_what_to_do(monkeypatch) -> None:
    monkeypatch.setenv("OPENREG_CHROMIUM", "no-such-browser")
    with pytest.raises(FileNotFoundError, match="OPENREG_CHROMIUM"):
        find_chromium()

"""Every spelling of an element that asks another host is refused, links are not.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import pytest
from small_guide import Project
from snippet_contract.other_hosts import css_addresses, is_elsewhere, loads

HOST = "https://elsewhere.example"
PICTURE = f"{HOST}/picture.png"

# A page's block that shows something of another host, and the element that loads it.
BLOCKS = {
    "markdown": (f"![A cat.]({PICTURE})\n", "img"),
    "reference": (f"![A cat.][cat]\n\n[cat]: {PICTURE}\n", "img"),
    "autolink scheme": ("![A cat.](HTTP://elsewhere.example/picture.png)\n", "img"),
    "image": (f"```{{image}} {PICTURE}\n:alt: A cat.\n```\n", "img"),
    "figure": (f"```{{figure}} {PICTURE}\n:alt: A cat.\n\nCaption.\n```\n", "img"),
    "card": (
        f":::{{card}} Title\n:img-top: {PICTURE}\n:img-alt: A\nText.\n:::\n",
        "img",
    ),
    "html": (f'<img alt="A cat." src="{PICTURE}">\n', "img"),
    "inline html": (f'Text <img alt="A cat." src="{PICTURE}"> text.\n', "img"),
    "capitals": (f'<IMG ALT="A cat." SRC="{PICTURE}">\n', "img"),
    "no quotes": (f"<img alt=cat src={PICTURE}>\n", "img"),
    "without scheme": ('<img alt="A cat." src="//elsewhere.example/p.png">\n', "img"),
    "entity": ('<img alt="A cat." src="https&#58;//elsewhere.example/p.png">\n', "img"),
    "raw": (f'```{{raw}} html\n<img alt="A cat." src="{PICTURE}">\n```\n', "img"),
    "srcset": (f'<img alt="A." src="#" srcset="a.png 1x, {PICTURE} 2x">\n', "img"),
    "source": (f'<picture><source srcset="{PICTURE}"></picture>\n', "source"),
    "iframe": (f'<iframe title="A page." src="{HOST}/"></iframe>\n', "iframe"),
    "srcdoc": (f"<iframe srcdoc=\"<img alt=A src='{PICTURE}'>\"></iframe>\n", "img"),
    "stylesheet": (f'<link rel="stylesheet" href="{HOST}/a.css">\n', "link"),
    "preconnect": (f'<link rel="preconnect" href="{HOST}">\n', "link"),
    "icon": (f'<link rel="shortcut icon" href="{HOST}/i.png">\n', "link"),
    "style": (f"<style>p {{ background: url({PICTURE}) }}</style>\n", "style"),
    "import": (f"<style>@import '{HOST}/a.css';</style>\n", "style"),
    "style attribute": (f"<p style=\"background: url('{PICTURE}')\">x</p>\n", "p"),
    "background": (f'<table background="{PICTURE}"></table>\n', "table"),
    "video": (f'<video src="{HOST}/v.mp4" title="A cat."></video>\n', "video"),
    "poster": (f'<video poster="{PICTURE}" title="A cat."></video>\n', "video"),
    "audio": (f'<audio src="{HOST}/a.mp3"></audio>\n', "audio"),
    "track": (f'<video><track src="{HOST}/t.vtt"></video>\n', "track"),
    "object": (f'<object data="{HOST}/o.svg"></object>\n', "object"),
    "embed": (f'<embed src="{HOST}/e.svg">\n', "embed"),
    "input": (f'<input type="image" alt="A." src="{PICTURE}">\n', "input"),
    "base": (f'<base href="{HOST}/">\n', "base"),
    "refresh": (f'<meta http-equiv="refresh" content="0; url={HOST}/">\n', "meta"),
    "ping": (f'<a href="#" ping="{HOST}/p">x</a>\n', "a"),
    "svg image": (
        f'<svg><title>A cat.</title><image href="{PICTURE}"/></svg>\n',
        "image",
    ),
    "svg use": (
        f'<svg><title>A.</title><use xlink:href="{HOST}/s.svg#a"/></svg>\n',
        "use",
    ),
    "svg fill": (
        f'<svg><title>A.</title><path fill="url({HOST}/s.svg#a)"/></svg>\n',
        "path",
    ),
    "noscript": (f'<noscript><img alt="A." src="{PICTURE}"></noscript>\n', "img"),
    "math": ("```{math}\nx^2\n```\n", "script"),  # Sphinx adds MathJax from its host
}


@pytest.mark.parametrize("name", BLOCKS)
def test_refuses_what_another_host_serves(project: Project, name: str) -> None:
    block, element = BLOCKS[name]
    project.page("Text.\n", block)
    warned = [it for it in project.build("html") if it.rule == "contract.host"]
    assert warned, "nothing was refused"
    for rule, place, text in warned:
        assert rule == "contract.host"
        assert place.startswith("docs/index.md:")
        assert "is on another host" in text
    assert f"(<{element}>)" in warned[0].text


def test_tells_the_line_of_the_page(project: Project) -> None:
    project.page("Text.\n", BLOCKS["markdown"][0])
    [(rule, place, text)] = project.build("html")
    assert (rule, place) == ("contract.host", "docs/index.md:5")
    assert text.startswith(f"{PICTURE} is on another host")


def test_refuses_a_script(project: Project) -> None:
    project.page(f'<script src="{HOST}/s.js"></script>\n')
    rules = sorted(warned.rule for warned in project.build("html"))
    assert rules == ["contract.host", "contract.html"]


@pytest.mark.parametrize(
    "conf",
    [
        f"html_css_files = ['{HOST}/a.css']\n",
        f"html_js_files = ['{HOST}/a.js']\n",
        f"html_logo = '{HOST}/logo.png'\n",
        f"html_favicon = '{HOST}/icon.png'\n",
    ],
)
def test_refuses_what_the_settings_load(project: Project, conf: str) -> None:
    project.conf += conf
    assert "contract.host" in {warned.rule for warned in project.build("html")}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("site.css", f"@import url({HOST}/other.css);"),
        ("site.css", f"p {{ background: URL( '{PICTURE}' ) }}"),
        ("site.css", r"p { background: \75rl(\68ttps://elsewhere.example/p.png) }"),
        ("drawing.svg", f'<svg><image xlink:href="{PICTURE}"/></svg>'),
        ("drawing.svg", f"<svg><style>@import '{HOST}/a.css'</style></svg>"),
    ],
)
def test_refuses_what_a_published_file_loads(
    project: Project, file: str, text: str
) -> None:
    project.conf += "html_static_path = ['_static']\n"
    project.write(f"docs/_static/{file}", text)
    [(rule, place, message)] = project.build("html")
    assert (rule, place) == ("contract.host", f"out/_static/{file}:1")
    assert "elsewhere.example" in message


@pytest.mark.parametrize("directive", ["csv-table} Title", "raw} html"])
def test_refuses_a_build_that_asks_another_host(
    project: Project, directive: str
) -> None:
    # An address without a server: the build must not wait for it.
    project.page(f"```{{{directive}\n:url: http://localhost:9/x\n```\n")
    warned = [it for it in project.build() if it.rule == "contract.host"]
    [(_, place, text)] = warned
    assert place == "docs/index.md:4"
    assert "while the guide is built" in text


def test_links_of_readers_lead_anywhere(project: Project) -> None:
    project.write("docs/square.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    project.page(
        f"[A link]({HOST}/), <{HOST}/auto>, and a [reference][r].\n\n[r]: {HOST}/r\n",
        f'<a href="{HOST}/">link</a> <a href="{HOST}/" title="url({HOST})">t</a>\n',
        "```{raw} html\n"
        f'<svg><title>A.</title><a xlink:href="{HOST}/"><text>x</text></a></svg>\n'
        "```\n",
        f"```{{image}} square.svg\n:alt: A square.\n:target: {HOST}/\n```\n",
        f'<link rel="canonical" href="{HOST}/page"><form action="{HOST}/"></form>\n',
        '<img alt="A." src="data:image/png,//8A" srcset="data:image/png,//a 1x">\n',
        f"<!-- <img alt='A.' src='{PICTURE}'> -->\n",
        f"The text `<img src='{PICTURE}'>` and url({PICTURE}) load nothing.\n",
    )
    assert project.build("html") == []


@pytest.mark.parametrize(
    ("address", "elsewhere"),
    [
        (f"  {HOST}", True),
        ("ht\ntps://elsewhere.example", True),
        ("\\\\elsewhere.example/p.png", True),
        ("/\\elsewhere.example/p.png", True),
        ("https:elsewhere.example", True),
        ("wss://elsewhere.example", True),
        ("/picture.png", False),
        ("httpserver.png", False),
        ("mailto:a@elsewhere.example", False),
        ("data:text/html,//x", False),
        ("#//x", False),
        ("", False),
    ],
)
def test_which_addresses_are_elsewhere(address: str, elsewhere: bool) -> None:
    assert is_elsewhere(address) is elsewhere


def test_a_comment_of_a_style_sheet_loads_nothing() -> None:
    assert list(css_addresses(f"/* url({PICTURE}) */ p {{ color: red }}")) == []


def test_a_style_ends_with_its_element() -> None:
    assert loads(f"<style>p {{}}</style><p>url({PICTURE})</p>") == []

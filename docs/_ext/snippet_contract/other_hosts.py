"""Refuses whatever would make a browser, or the build, ask another host.

Explained in CONTRIBUTING.md, "Writing a chapter": the guide must read from `file://`,
and a reader's visit is no one else's business. Links that a reader clicks are free to
lead anywhere. What counts is the rendered site, since themes, templates and directives
add elements that no page contains; so each file that a build wrote is read at its end.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from snippet_contract.blocks import blocks, find_pages
from snippet_contract.report import problem

# Attributes whose address a browser opens without being asked to.
LOADED = {"src", "poster", "data", "background", "manifest", "ping", "xlink:href"}
LISTED = {"srcset", "imagesrcset"}  # several addresses, each with a size
# Attributes that contain CSS; all but the first are of SVG.
STYLED = {"style", "clip-path", "cursor", "fill", "filter", "marker-end", "marker-mid"}
STYLED |= {"marker-start", "mask", "stroke"}
# Elements whose `href` is a link to click. Any other element loads its own, such as
# <image> and <use> of SVG; <base> makes each relative address one of another host.
LINKS = {"a", "area"}
# What `<link rel>` only names; a browser opens the address of every other kind.
TOLD = {"alternate", "author", "canonical", "copyright", "first", "help", "index"}
TOLD |= {"last", "license", "next", "prev", "search", "top", "up"}
# Control characters and spaces around an address, and line breaks inside, do not count.
IGNORED = re.compile(r"^[\x00-\x20]+|[\x00-\x20]+$|[\t\r\n]")
ELSEWHERE = re.compile(r"(?:https?|wss?|ftp):|[/\\]{2}", re.IGNORECASE)
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)", re.DOTALL)
CSS_ADDRESS = re.compile(
    r"""\b(?:url|src)\(\s*(?:"([^"]*)"|'([^']*)'|([^"')\s][^)]*))"""
    r"""|@import\s+(?:"([^"]*)"|'([^']*)')"""
    r"""|\bimage-set\(\s*(?:"([^"]*)"|'([^']*)')""",
    re.IGNORECASE,
)
REFRESH = re.compile(r"\burl\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)


def is_elsewhere(address: str) -> bool:
    """Whether a browser would ask another host for this address."""
    return ELSEWHERE.match(IGNORED.sub("", address)) is not None


def css_addresses(text: str) -> Iterator[str]:
    """Addresses that a style sheet loads."""
    plain = CSS_ESCAPE.sub(_unescape, CSS_COMMENT.sub(" ", text))
    for match in CSS_ADDRESS.finditer(plain):
        yield next(group for group in match.groups() if group is not None)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16) % 0x110000) if match[1] else match[2]


class _Loads(HTMLParser):
    """Collects what a browser loads of other hosts for an HTML or SVG document."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []  # element, address
        self._style = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style += tag == "style"
        values = {name: value or "" for name, value in attrs}
        for name, value in values.items():
            for address in self._addresses(tag, name, value, values):
                if is_elsewhere(address):
                    self.found.append((tag, IGNORED.sub("", address)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._style -= tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._style -= tag == "style"

    def handle_data(self, data: str) -> None:
        if self._style > 0:
            self._add_css("style", data)

    def _add_css(self, tag: str, text: str) -> None:
        self.found += [(tag, it) for it in css_addresses(text) if is_elsewhere(it)]

    def _addresses(
        self, tag: str, name: str, value: str, values: dict[str, str]
    ) -> Iterator[str]:
        if name in STYLED:
            yield from css_addresses(value)
        elif name in LISTED:
            # A candidate ends with a comma after a space, or after its size.
            yield from re.findall(r"(?:^|,\s*|,)\s*([^\s,]\S*?)(?=,?(?:\s|$))", value)
        elif name == "srcdoc":
            inner = _Loads()
            inner.feed(value)
            self.found += inner.found
        elif name in ("href", "xlink:href"):
            kinds = set(values.get("rel", "").lower().split())
            only_told = tag == "link" and kinds and kinds <= TOLD
            if tag not in LINKS and not only_told:
                yield value
        elif name in LOADED:
            yield value
        elif tag == "meta" and name == "content" and "http-equiv" in values:
            yield from REFRESH.findall(value)


def loads(text: str) -> list[tuple[str, str]]:
    """(element, address) of what a document loads from other hosts."""
    parser = _Loads()
    parser.feed(text)
    parser.close()
    return parser.found


def _check_site(app: Sphinx, error: Exception | None) -> None:
    builder = app.builder
    if error is not None or not isinstance(builder, StandaloneHTMLBuilder):
        return
    site, begun = Path(app.outdir), app.contract_begun  # type: ignore[attr-defined]
    pages = {
        Path(builder.get_outfilename(name)): Path(app.env.doc2path(name))
        for name in app.env.found_docs
    }
    for file in sorted(site.rglob("*")):
        if file.stat().st_ctime < begun:
            continue  # an earlier build wrote it, and read it
        if file.suffix in (".html", ".svg"):
            found = loads(file.read_text(encoding="utf-8"))
        elif file.suffix == ".css":
            addresses = css_addresses(file.read_text(encoding="utf-8"))
            found = [("style sheet", it) for it in addresses if is_elsewhere(it)]
        else:
            continue
        for element, address in dict.fromkeys(found):
            problem(
                "host",
                f"{address} is on another host, and opening this file loads it"
                f" (<{element}>). Put what it is into this repository, or make it a"
                " link that a reader clicks.",
                _place(pages.get(file, file), address),
            )


def _place(file: Path, address: str) -> str:
    """The line of a file that names an address; the first if none does."""
    lines = file.read_text(encoding="utf-8").splitlines()
    found = (number for number, line in enumerate(lines, 1) if address in line)
    return f"{file}:{next(found, 1)}"


def _check_build(app: Sphinx) -> None:
    """No directive may fetch its text from a host while the guide is built."""
    app.contract_begun = time.time() - 1  # type: ignore[attr-defined]  # clocks are coarse
    for page in find_pages(Path(app.srcdir)):
        for block in blocks(page.read_text(encoding="utf-8")):
            for option in block.options:
                if option.key == "url" and block.directive:
                    problem(
                        "host",
                        f"{{{block.directive}}} with :url: asks another host while the"
                        " guide is built. Put the text into this repository.",
                        f"{page}:{option.line}",
                    )


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _check_build)
    app.connect("build-finished", _check_site)

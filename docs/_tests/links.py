# Finds dead links and anchors by reading the HTML files of the built site.
"""No browser is needed: the site is static, so a link is alive when its file and its
anchor exist. Links to other hosts are left alone, tests make no request.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"href", "src"}


@dataclass
class HtmlFile(HTMLParser):
    """The links and anchors of one HTML file."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Start the parser; dataclasses do not call the base class."""
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list) -> None:
        """Collect what the tag links to, and the anchor it is."""
        for name, value in attributes:
            if name in LINKS and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def read(path: Path) -> HtmlFile:
    """Parse one file."""
    parsed = HtmlFile()
    parsed.feed(path.read_text(encoding="utf-8"))
    return parsed


def dead_links(folder: Path, pages: list[str]) -> list[str]:
    """List every link of the pages that leads to no file or no anchor."""
    files = {name: read(folder / name) for name in pages}
    faults = []
    for name, file in files.items():
        for link in file.links:
            if fault := _fault(folder, files, name, link):
                faults.append(f"{name}: {link!r} {fault}")
    return faults


def _fault(folder: Path, files: dict[str, HtmlFile], name: str, link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    if parts.path.startswith("/"):
        return "starts at the root of a host, so it breaks on file://"
    target = name
    if parts.path:
        target = posixpath.join(posixpath.dirname(name), unquote(parts.path))
        target = posixpath.normpath(target)
    if target.startswith("..") or not (folder / target).is_file():
        return "leads to no file"
    anchor = unquote(parts.fragment)
    if anchor and target in files and anchor not in files[target].anchors:
        return f"has no anchor in {target}"
    return ""

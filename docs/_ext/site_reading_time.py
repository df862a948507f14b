# Shows the reading time of each page under its title, and refuses pages that are long.
"""A page takes one minute for 220 words, and one for 20 lines of code.

A page of more than fifteen minutes is an error, unless ``site_long_pages`` in
docs/conf.py lists it. A listed page that has become short must leave the list, so the
list only shrinks. The folded solution of an exercise and folded files do not count.
Pages below ``reference`` are tables to search, and have no reading time.

The role ``minutes`` shows the time of another page, or the sum of several:
{minutes}`start/quickstart start/install`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

logger = logging.getLogger(__name__)

WORDS_A_MINUTE = 220
LINES_A_MINUTE = 20
LONGEST = 15  # minutes
NOT_READ = (nodes.comment, nodes.raw)
KEY = "reading_time"  # in the metadata of a page


def reading_time(doctree: nodes.document) -> int:
    """Return the minutes that a page takes, rounded up."""
    words = sum(len(text.split()) for text in _prose(doctree))
    blocks = (
        block.astext()
        for block in doctree.findall(nodes.literal_block)
        if not _in_solution(block) and block.get("contract") != "whole"
    )
    lines = sum(1 for block in blocks for line in block.splitlines() if line.strip())
    return math.ceil(words / WORDS_A_MINUTE + lines / LINES_A_MINUTE)


def _prose(node: nodes.Element) -> Iterator[str]:
    """The text of each paragraph, heading and cell; inline elements are part of it."""
    for child in node.children:
        if isinstance(child, (nodes.literal_block, *NOT_READ)):
            continue
        if _is_solution(child):
            continue
        if isinstance(child, nodes.TextElement):
            yield child.astext()
        elif isinstance(child, nodes.Element):
            yield from _prose(child)


def _is_solution(node: nodes.Node) -> bool:
    """Whether a node is the dropdown "Solution" of an exercise."""
    return (
        isinstance(node, nodes.container)
        and node.get("design_component") == "dropdown"
        and node.children[0].astext() == "Solution"
    )


def _in_solution(node: nodes.Node | None) -> bool:
    while node is not None and not _is_solution(node):
        node = node.parent
    return node is not None


def _show(app: Sphinx, doctree: nodes.document) -> None:
    name = app.env.docname
    title = next(iter(doctree.findall(nodes.title)), None)
    if title is None or name.startswith("reference/"):
        return
    minutes = reading_time(doctree)
    app.env.metadata[name][KEY] = minutes
    listed = name in app.config.site_long_pages
    if minutes > LONGEST and not listed:
        text = (
            f"this page takes {minutes} minutes to read, more than {LONGEST}: split it"
        )
        logger.warning(text, type="reading-time", location=title)
    elif minutes <= LONGEST and listed:
        text = f"this page takes only {minutes} minutes: remove it from site_long_pages"
        logger.warning(text, type="reading-time", location=title)
    text = f'<p class="reading-time">{minutes} min read</p>\n'
    shown = nodes.raw("", text, format="html")  # the Markdown of a page leaves it out
    title.parent.insert(title.parent.index(title) + 1, shown)


class PageMinutes(nodes.inline):
    """The place of a sum that is known when all pages are read."""


class Minutes(SphinxRole):
    """``{minutes}`page page```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a node for the pages."""
        return [PageMinutes("", pages=self.text.split(), line=self.lineno)], []


def _fill(app: Sphinx, doctree: nodes.document, name: str) -> None:
    for node in list(doctree.findall(PageMinutes)):
        known = [app.env.metadata[page].get(KEY) for page in node["pages"]]
        for page, minutes in zip(node["pages"], known, strict=True):
            if minutes is None:
                text = f"minutes: '{page}' is no page with a reading time"
                logger.warning(text, type="reading-time", location=name)
        total = sum(minutes for minutes in known if minutes)
        node.replace_self(nodes.inline("", f"{total} min", classes=["minutes"]))


def _check_names(app: Sphinx, env: object) -> None:
    for name in app.config.site_long_pages:
        if name not in app.env.found_docs:
            text = f"site_long_pages lists '{name}', which is no page: remove it"
            logger.warning(text, type="reading-time")


def setup(app: Sphinx) -> dict[str, bool]:
    """Measure each page after it is read, before other extensions change it."""
    app.add_config_value("site_long_pages", [], "env", [list])
    app.add_role("minutes", Minutes())
    app.connect("doctree-read", _show, priority=100)
    app.connect("doctree-resolved", _fill)
    app.connect("env-updated", _check_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

# Numbered callouts: a trailing comment `// (1)` in a snippet becomes a numbered badge.
"""Callouts tie a line of a snippet to the sentence that explains it.

The source carries a comment that holds only the number, ``// (1)`` or ``# (1)``; the
page explains it in a numbered list right below the block. ``snippet_contract`` checks
that numbers and list agree; here both get the same badge, and the copy button leaves
the badge out (``copybutton_exclude`` in docs/conf.py).
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

IN_SOURCE = re.compile(r"(?://|#)[ \t]*\(\d+\)[ \t]*$", re.MULTILINE)
IN_HTML = re.compile(
    r'(?:<span class="w">[ \t]*</span>|[ \t]+)?'
    r'<span class="c\d?">(?://|#)[ \t]*\((\d+)\)[ \t]*</span>'
)
BADGE = r'<span class="callout" role="img" aria-label="callout \1">\1</span>'


def draw_badges(html: str) -> str:
    """Turn the highlighted callout comments of a page into badges."""
    return IN_HTML.sub(BADGE, html)


def mark_lists(doctree: nodes.document) -> None:
    """Give the list below each block with callouts the class ``callouts``."""
    for block in doctree.findall(nodes.literal_block):
        if not IN_SOURCE.search(block.astext()):
            continue
        frame = block
        while isinstance(frame.parent, nodes.container):
            frame = frame.parent
        below = frame.next_node(siblings=True, descend=False)
        if isinstance(below, nodes.enumerated_list):
            below["classes"].append("callouts")


def _mark(app: Sphinx, doctree: nodes.document) -> None:
    mark_lists(doctree)


def _draw(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if doctree is not None:  # a chapter; the pages of whole files stay as they are
        context["body"] = draw_badges(context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Mark the lists when a page is read, draw the badges when it is written."""
    app.connect("doctree-read", _mark)
    app.connect("html-page-context", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

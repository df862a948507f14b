# Numbered callouts: a trailing comment `// (1)` in a snippet becomes a numbered badge.
"""Callouts tie a line of a snippet to the sentence that explains it.

The source carries a comment that holds only the number, ``// (1)`` or ``# (1)``; the
page explains it right below the block, in a numbered list with the class ``callouts``:

    {.callouts}
    1. Why this line is here.

The numbers of a block must run from 1 without a gap and the list must have as many
items: otherwise the build warns, which ``-W`` turns into a failure.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

IN_SOURCE = re.compile(r"(?://|#)[ \t]*\((\d+)\)[ \t]*$", re.MULTILINE)
IN_HTML = re.compile(
    r'(?:<span class="w">[ \t]*</span>|[ \t]+)?'
    r'<span class="c\d?">(?://|#)[ \t]*\((\d+)\)[ \t]*</span>'
)
BADGE = r'<span class="callout" role="img" aria-label="callout \1">\1</span>'


def replace_comments(html: str) -> str:
    """Turn the highlighted callout comments of a page into badges."""
    return IN_HTML.sub(BADGE, html)


def callout_numbers(source: str) -> list[int]:
    """List the callout numbers of a snippet in the order of its lines."""
    return [int(number) for number in IN_SOURCE.findall(source)]


def find_faults(doctree: nodes.document) -> list[tuple[nodes.Node, str]]:
    """List each block or list of callouts that has no counterpart."""
    faults: list[tuple[nodes.Node, str]] = []
    explained = set()
    for block in doctree.findall(nodes.literal_block):
        numbers = callout_numbers(block.astext())
        if not numbers:
            continue
        if numbers != list(range(1, len(numbers) + 1)):
            faults.append((block, f"callouts must be 1, 2, ... in order, not {numbers}"))
        explanation = _next_sibling(block)
        if not _is_callout_list(explanation):
            faults.append((block, "explain the callouts in a {.callouts} list below"))
            continue
        explained.add(explanation)
        if len(explanation) != len(numbers):
            text = f"{len(numbers)} callouts, but {len(explanation)} explanations"
            faults.append((explanation, text))
    for item in doctree.findall(_is_callout_list):
        if item not in explained:
            faults.append((item, "no block with callouts stands right above this list"))
    return faults


def _is_callout_list(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.enumerated_list) and "callouts" in node["classes"]


def _next_sibling(block: nodes.Node) -> nodes.Node | None:
    """Return what follows the block, or the frame that carries its caption."""
    while isinstance(block.parent, nodes.container) and block.parent[-1] is block:
        block = block.parent
    siblings = block.parent.children
    position = siblings.index(block) + 1
    return siblings[position] if position < len(siblings) else None


def _check(app: Sphinx, doctree: nodes.document) -> None:
    for node, text in find_faults(doctree):
        logger.warning("callouts: %s", text, location=node, type="site")


def _render(app, pagename, templatename, context, doctree) -> None:
    if "body" in context:
        context["body"] = replace_comments(context["body"])


def setup(app: Sphinx) -> dict:
    """Check callouts when a page is read, draw them when it is written."""
    app.connect("doctree-read", _check)
    app.connect("html-page-context", _render)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

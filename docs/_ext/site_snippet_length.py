# Refuses long snippets, and those that do not show where to look; see CONTRIBUTING.md.
"""A block of code has at most 25 lines; above 12, a snippet has callouts or emphasis.

Examples and commands explain themselves by their output, so the second rule holds for
`{literalinclude}` alone. ``site_long_snippets`` in docs/conf.py lists the pages that do
not follow the rules yet. A listed page that follows them must leave the list.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

LONGEST = 25  # lines that are not blank
ALONE = 12  # lines without callouts or emphasis
NOT_READ = {"c-header", "whole"}  # types of a header, and whole files, are searched


def fault(block: nodes.literal_block) -> str | None:
    """What is wrong with the length of a block, or None."""
    lines = sum(1 for line in block.astext().splitlines() if line.strip())
    if lines > LONGEST:
        return f"this code has {lines} lines, at most {LONGEST}: show less, or split it"
    shown = block.get("callouts") or block.get("highlight_args", {}).get("hl_lines")
    if block.get("contract") == "include" and lines > ALONE and not shown:
        text = f"this snippet has {lines} lines, more than {ALONE}: add callouts or"
        return f"{text} :emphasize-text:"
    return None


def _check(app: Sphinx, doctree: nodes.document) -> None:
    name = app.env.docname
    blocks = [
        block
        for block in doctree.findall(nodes.literal_block)
        if block.get("contract", "whole") not in NOT_READ
    ]
    faults = [(block, text) for block in blocks if (text := fault(block))]
    if name not in app.config.site_long_snippets:
        for block, text in faults:
            logger.warning(text, type="snippet-length", location=block)
    elif not faults:
        text = "the snippets of this page are short: remove it from site_long_snippets"
        logger.warning(text, type="snippet-length", location=doctree)


def _check_names(app: Sphinx, env: object) -> None:
    for name in app.config.site_long_snippets:
        if name not in app.env.found_docs:
            text = f"site_long_snippets lists '{name}', which is no page: remove it"
            logger.warning(text, type="snippet-length")


def setup(app: Sphinx) -> dict[str, bool]:
    """Check each page after it is read."""
    app.add_config_value("site_long_snippets", [], "env", [list])
    app.connect("doctree-read", _check, priority=100)
    app.connect("env-updated", _check_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

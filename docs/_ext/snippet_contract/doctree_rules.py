"""Rules on the page as Sphinx understood it, whatever syntax it was written in.

Explained in CONTRIBUTING.md, "Writing a chapter": no code block of unknown origin, no
picture without a text for those who cannot see it, no code in raw HTML, callouts that
match the list below, and no runnable block that the page runner would not find.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from snippet_contract import diffs
from snippet_contract.blocks import blocks
from snippet_contract.report import check_width, problem

# A fence of plain text shows what is no code: a tree of files, a formula, a sketch.
PLAIN = {"text"}
RAW_CODE = re.compile(r"<(pre|code|samp|script)\b", re.IGNORECASE)
RAW_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
RAW_ALT = re.compile(r"\balt\s*=\s*(\"[^\"]*\S[^\"]*\"|'[^']*\S[^']*')")
RAW_SVG = re.compile(r"<svg\b.*?(?:</svg>|\Z)", re.IGNORECASE | re.DOTALL)
SVG_TITLE = re.compile(r"<title\b[^>]*>\s*[^<\s]", re.IGNORECASE)


def _check_code(doctree: nodes.document, root: Path) -> None:
    kinds = (nodes.literal_block, nodes.doctest_block)
    for block in doctree.findall(lambda node: isinstance(node, kinds)):
        if "contract" in block:
            continue
        language = block.get("language", "none")
        text = block.astext()
        if language == "diff":
            check_width(text, block)
            for fault in diffs.faults(text, root):
                problem("diff", fault, block)
        elif isinstance(block, nodes.doctest_block) or language not in PLAIN:
            problem(
                "bare",
                f"a bare block of {language!r}: nothing compiles or runs it. Use"
                " {literalinclude}, {doctest} or {transcript}, or {illustrative} with"
                " a reason; what is no code goes into a fence of 'text'.",
                block,
            )
        elif re.search(r"^\s*\$ ", text, re.MULTILINE):
            problem(
                "bare",
                "a command in a fence of 'text': nothing runs it. Use {transcript},"
                " or {illustrative} console with a reason.",
                block,
            )
        else:
            check_width(text, block)


def _check_pictures(doctree: nodes.document) -> None:
    for image in doctree.findall(nodes.image):
        if not (image.get("alt") or "").strip():
            problem(
                "alt",
                f"picture {image.get('uri', '')} has no text for readers who cannot"
                " see it. Write what it shows: ![text](file) or ':alt: text'.",
                image if image.line else image.parent,
            )


def _check_raw(doctree: nodes.document) -> None:
    for raw in doctree.findall(nodes.raw):
        html = raw.astext()
        if match := RAW_CODE.search(html):
            problem(
                "html",
                f"<{match[1].lower()}> in raw HTML: nothing checks this code. Use one"
                " of the code blocks of the guide.",
                raw,
            )
        for image in RAW_IMAGE.findall(html):
            if not RAW_ALT.search(image):
                problem("alt", f"{image} has no alt text. Write what it shows.", raw)
        for svg in RAW_SVG.findall(html):
            if not SVG_TITLE.search(svg):
                text = "this <svg> has no <title>. Write what it shows."
                problem("alt", text, raw)


BEHIND_A_COMMENT = re.compile(
    r"(?:^|\s)(?:#|//)\s.*(?:#|//)\s*\(\d+\)\s*$", re.MULTILINE
)


def _check_callouts(doctree: nodes.document) -> None:
    for block in doctree.findall(nodes.literal_block):
        numbers = block.get("callouts")
        if not numbers:
            continue
        if BEHIND_A_COMMENT.search(block.astext()):
            problem(
                "callout",
                "a callout of this snippet stands behind another comment, so it would"
                " be shown as text. Give it a line without a comment.",
                block,
            )
            continue
        if numbers != list(range(1, len(numbers) + 1)):
            problem(
                "callout",
                f"callouts of this snippet are numbered {numbers}. Number them from"
                " 1, in the order of the lines.",
                block,
            )
            continue
        below = block.parent.next_node(siblings=True, descend=False)
        listed = len(below) if isinstance(below, nodes.enumerated_list) else 0
        if listed != len(numbers):
            problem(
                "callout",
                f"this snippet has {len(numbers)} callouts, and the numbered list"
                f" right below has {listed} entries. Explain each in one entry.",
                block,
            )


def _check_found(app: Sphinx, doctree: nodes.document) -> None:
    """What is shown as run must be what the page runner finds."""
    text = Path(app.env.doc2path(app.env.docname)).read_text(encoding="utf-8")
    found = blocks(text)
    for rule in ("doctest", "transcript"):
        shown = sum(
            1
            for node in doctree.findall(nodes.literal_block)
            if node.get("contract") == rule
        )
        run = sum(1 for block in found if block.directive == rule)
        if shown != run:
            problem(
                "blocks",
                f"the page shows {shown} {{{rule}}} blocks, but the page runner finds"
                f" {run} of them. Write them with plain fences, in the page itself.",
                (app.env.docname, 1),
            )


def _check(app: Sphinx, doctree: nodes.document) -> None:
    _check_code(doctree, Path(app.config.contract_root or Path(app.srcdir).parent))
    _check_pictures(doctree)
    _check_raw(doctree)
    _check_callouts(doctree)
    _check_found(app, doctree)


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _check)

"""Rules on the text of a page, before Sphinx reads it.

Explained in CONTRIBUTING.md, "Writing a chapter": `>>>` only where it is run, every
fence closed, no colon fence without a directive, no {eval-rst}, no option given twice.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from snippet_contract.blocks import Block, blocks, find_pages
from snippet_contract.examples import PROMPT, Problem
from snippet_contract.report import problem


def page_problems(text: str) -> list[tuple[str, Problem]]:
    """(rule, problem) of everything wrong in the text of one page."""
    found = blocks(text)
    return [
        *(("fence", p) for block in found for p in _fence(block)),
        *(("directive", p) for block in found for p in _eval_rst(block)),
        *(("option", p) for block in found for p in _options(block)),
        *(("prompt", p) for p in _prompts(text, found)),
    ]


def _fence(block: Block) -> list[Problem]:
    if not block.closed:
        name = f"{{{block.directive}}}" if block.directive else "without a directive"
        return [
            Problem(
                block.line,
                f"this fence {name} is never closed. Close it; a fence that contains"
                " another has more marks than the one inside.",
            )
        ]
    if block.kind == "colon_fence" and not block.directive:
        return [
            Problem(
                block.line,
                "this ':::' opens a block without a directive. Name one, or delete"
                " the line if it should have closed a block.",
            )
        ]
    return []


def _eval_rst(block: Block) -> list[Problem]:
    if block.directive != "eval-rst":
        return []
    text = "{eval-rst} is not allowed: nothing checks the code in it. Write MyST."
    return [Problem(block.line, text)]


def _options(block: Block) -> list[Problem]:
    seen: set[str] = set()
    problems = []
    for option in block.options:
        if option.key in seen:
            text = f":{option.key}: is given twice, and only the last one counts."
            problems.append(Problem(option.line, text + " Put both texts into one."))
        seen.add(option.key)
    return problems


def _prompts(text: str, found: list[Block]) -> list[Problem]:
    run = {
        line
        for block in found
        if block.directive == "doctest"
        for line in block.body_lines
    }
    return [
        Problem(
            number,
            "'>>>' outside a {doctest} block: it looks as if it had been run."
            " Move it into a {doctest} block.",
        )
        for number, line in enumerate(text.splitlines(), 1)
        if number not in run and PROMPT.search(line)
    ]


def _check_page(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if path not in find_pages(Path(app.srcdir)):
        problem(
            "page",
            "the page runner does not run this page. Pages are .md files, in no"
            " folder that starts with '_' or '.'.",
            (docname, 1),
        )
    for rule, (line, text) in page_problems(source[0]):
        problem(rule, text, (docname, line))


def setup(app: Sphinx) -> None:
    app.connect("source-read", _check_page)

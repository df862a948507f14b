"""Reads the `>>>` examples of a doctest block and refuses what would not be tested.

Explained in CONTRIBUTING.md, "Writing a chapter". Used by the Sphinx extension and by
the page runner; needs only the standard library.
"""

from __future__ import annotations

import doctest
import re
from typing import NamedTuple

FLAGS = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1

# An example as written in a page. Counted on the raw text, independently of the parser
# that finds the blocks, so that an example that never runs is noticed.
WRITTEN = re.compile(r"(?:^|[\s>])>>> +(?!#)\S")
# A prompt anywhere in a page, also a comment or an empty one.
PROMPT = re.compile(r"(?:^|[\s`>])>>>(?=\s|$)")
IDLE_PROMPT = re.compile(r"\s*>>>\s*(#.*)?$")
INLINE_FLAG = re.compile(r"#\s*doctest:")


class Problem(NamedTuple):
    """What is wrong in a block, and in which line of the page."""

    line: int
    text: str


def count_written(page: str) -> int:
    """How many examples the text of a page shows."""
    return sum(1 for line in page.splitlines() if WRITTEN.search(line))


def parse_examples(body: str, line: int) -> tuple[list[doctest.Example], list[Problem]]:
    """Examples of a block whose first line is `line`; their `lineno` is the page's."""
    try:
        examples = doctest.DocTestParser().get_examples(body)
    except ValueError as error:
        return [], [Problem(line, f"doctest cannot read this block: {error}")]
    lines = body.splitlines()
    problems = [
        Problem(
            line + index,
            "examples take no '# doctest:' flags, because every page is compared"
            " in the same way (ELLIPSIS only). Write '...' in the expected output"
            " for what may vary.",
        )
        for index, text in enumerate(lines)
        if INLINE_FLAG.search(text)
    ]
    tested: set[int] = set()
    for example in examples:
        count = example.source.count("\n") + example.want.count("\n")
        tested.update(range(example.lineno, example.lineno + count))
        example.lineno += line
    problems += [
        Problem(
            line + index,
            f"{text.strip()!r} is neither an example nor its output, so nothing"
            " compares it. Output ends at an empty line: write <BLANKLINE> for an"
            " empty line inside it, and move prose out of the block.",
        )
        for index, text in enumerate(lines)
        if index not in tested and text.strip() and not IDLE_PROMPT.match(text)
    ]
    if not examples and not problems:
        problems.append(
            Problem(line, "this block has no '>>>' example. Write one or delete it.")
        )
    return examples, sorted(problems)

# Finds the test that expects a message; see docs/reference/error-index.md.
"""A message is looked for in the strings of tests, which they compare with errors.

Only the tests in the folder of a page count: elsewhere, a message has other causes.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
KIND = re.compile(r"^(?:import torch: )?(?:\w+\.)*\w*(?:Error|Exception|Warning): ")
SHORTEST = 14  # letters that a text must have to be of one message only
ENOUGH = 0.6  # of a message, in the test of another page: less fits other messages
MOST = 3  # files: what more of them contain is not of one message


@cache
def strings(folder: str) -> dict[str, set[str]]:
    """What is in quotes in each file of tests in a folder."""
    return {
        path.relative_to(TESTS).as_posix(): strings_of(path.read_text())
        for path in sorted((TESTS / folder).glob("test_*.py"))
        if path.name != "test_debugging.py"  # it tests the index itself
    }


def strings_of(source: str) -> set[str]:
    return {
        plain(part)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for part in node.value.split(".*")  # most of them are patterns
    }


def plain(text: str) -> str:
    """The text without backslashes, with one kind of quotes, in one line."""
    return " ".join(text.replace("\\", "").replace('"', "'").split()).strip(" .,:;")


def letters(text: str) -> int:
    return len(re.sub(r"\W", "", text))


def is_distinctive(text: str) -> bool:
    return " " in text and letters(text) >= SHORTEST


def expects(strings: set[str], message: str, least: float) -> bool:
    """Whether a string contains the longest part of a message, or is enough of it."""
    parts = re.split(r"\.\.\.|<[a-z]+>", KIND.sub("", message))
    longest = max(map(plain, parts), key=letters)
    shortest = letters(longest) * least
    return is_distinctive(longest) and any(
        longest in text or (text in longest and letters(text) > shortest)
        for text in strings
        if is_distinctive(text)
    )


def find_test(seen: str, page: str) -> str:
    """The file of tests that expects a message of a row, the one of its page first."""
    own = page.partition(".md")[0].replace("/", "/test_").replace("-", "_")
    for message in re.findall(r"`+([^`]+)`+", seen):
        own_files, files = [], []
        for file, found in strings(page.partition("/")[0]).items():
            name = file.removesuffix(".py")
            if own.startswith(name) or name.startswith(own):
                own_files += [file] if expects(found, message, 0) else []
            elif expects(found, message, ENOUGH):
                files.append(file)
        if own_files or 0 < len(files) <= MOST:
            return (own_files or files)[0]
    return ""

# Finds the row of the error index that fits a message; see docs/ship/debugging.md.
"""The index is ``_errors.json``; ``openreg/tests/tools/error_index.py`` writes it."""

import json
import re
from pathlib import Path

INDEX = Path(__file__).with_name("_errors.json")
ANY = re.compile(r"\.\.\.|<[a-z]+>|0x\.\.\.|\bopenreg\b|\bstarter\b|\bfoo\b")
KIND = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): ")  # str(error) lacks it
SHORTEST = 8  # letters that a message and a row must have in common
MOST = 3  # rows to show


def rows() -> list[dict[str, str]]:
    """Return the index."""
    found: list[dict[str, str]] = json.loads(INDEX.read_text(encoding="utf-8"))
    return found


# LITERALINCLUDE START: EXPLAIN
def pattern(text: str) -> re.Pattern[str]:
    """A verbatim text as a pattern: ``...`` and names of devices stand for any text."""
    kept = [re.escape(part) for part in ANY.split(text)]
    return re.compile(r".*?".join(kept), re.IGNORECASE | re.DOTALL)


def fit(message: str, row: dict[str, str]) -> int:
    """How many letters of a row stand in the message; 0 if the row does not fit."""
    best = 0
    for quoted in re.findall(r"`+([^`]+)`+", row["seen"]):
        text = KIND.sub("", quoted)
        letters = len(re.sub(r"\W", "", ANY.sub("", text)))
        if letters >= SHORTEST and pattern(text.strip(". ")).search(message):
            best = max(best, letters)
    return best


def explain(message: str) -> list[dict[str, str]]:
    """Return the rows that fit a message, the one with most of its text first."""
    message = message.replace("`", "")
    scored = [(fit(message, row), row) for row in rows()]
    scored = sorted(scored, key=lambda pair: -pair[0])
    return [row for score, row in scored if score > 0][:MOST]


# LITERALINCLUDE END: EXPLAIN
def show(message: str) -> str:
    """Return the rows that fit, for people to read; empty if none does."""
    texts = [
        f'{row["seen"]}\n  {row["why"]}\n  see "{row["title"]}" in the guide'
        for row in explain(message)
    ]
    return "\n".join(texts)

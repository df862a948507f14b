# Finds the row of the error index that fits a message; see docs/ship/debugging.md.
"""The index is ``_errors.json``; ``openreg/tests/tools/error_index.py`` writes it."""

import json
import re
from pathlib import Path

INDEX = Path(__file__).with_name("_errors.json")
# Parts that depend on the machine or the backend match any text.
VARIES = re.compile(
    r"""
    \.\.\. | <[a-z]+> | 0x[0-9a-f]+
    | (?:/[\w.+-]+){2,} | [\w/+-]+\.(?:py|cpp|h|so)\b(?::\d+)?            # files
    | (?:torch[._])?(?:openreg|starter)(?:\.(?:openreg|starter))?         # devices
    | \bfoo\b | (?:\b|(?<=Autocast))bare\b
    | \b\d+(?:\.\d+)*\b                                                   # numbers
    | \b(?:torch\.)?(?:b?float\d*|u?int\d*|half|double|complex\d+)\b      # dtypes
    """,
    re.IGNORECASE | re.VERBOSE,
)
OPERATOR = re.compile(r"aten::(\w[\w.]*)")
KIND = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): ")  # str(error) lacks it
SHORTEST = 8  # letters that a message and a row must have in common
MOST = 3  # rows to show
EXPERIMENTS = "reference/"  # pages about a backend without one piece


def rows() -> list[dict[str, str]]:
    """Return the index."""
    found: list[dict[str, str]] = json.loads(INDEX.read_text(encoding="utf-8"))
    return found


# LITERALINCLUDE START: EXPLAIN
def patterns(row: dict[str, str]) -> list[tuple[str, int]]:
    """The verbatim texts of a row as patterns, with how many letters each compares."""
    found = []
    for quoted in re.findall(r"`+([^`]+)`+", row["seen"]):
        text = KIND.sub("", quoted).strip(". ")
        for name in OPERATOR.findall(text):
            if name not in row["why"]:  # an example: any operator has this message
                text = text.replace(f"aten::{name}", "aten::...")
        parts = VARIES.split(text)
        letters = len(re.sub(r"\W", "", "".join(parts)))
        if letters >= SHORTEST and " " in text:  # a name is no message
            words = ".*?".join(re.escape(part) for part in parts)
            found.append((re.sub(r"(?:\\\s)+", r"\\s+", words), letters))
    return found


# LITERALINCLUDE END: EXPLAIN
def fit(message: str, row: dict[str, str]) -> int:
    """How many letters of a row are in the message; 0 if the row does not match."""
    anywhere = re.IGNORECASE | re.DOTALL
    found = patterns(row)
    return max(
        (n for text, n in found if re.search(text, message, anywhere)), default=0
    )


def piece_of(row: dict[str, str]) -> str | None:
    """The piece that an experiment removed to cause this error; None for other rows."""
    if not row["page"].startswith(EXPERIMENTS):
        return None
    named = re.search(r"`([^`]+)`", row["why"])
    return named[1] if named else ""


def is_example(message: str, row: dict[str, str]) -> bool:
    """Whether other pieces, which this row does not name, give the message as well."""
    piece = piece_of(row)
    return piece is not None and (not piece or piece not in message)


def explain(message: str) -> list[dict[str, str]]:
    """Return the rows that fit: examples last, else the longest text first."""
    message = message.replace("`", "")
    scored = [(fit(message, row), row) for row in rows()]
    fitting = [
        (is_example(message, row), -score, row) for score, row in scored if score
    ]
    return [row for *_, row in sorted(fitting, key=lambda found: found[:2])][:MOST]


def show(message: str) -> str:
    """Return the rows that fit, for people to read; empty if none does."""
    texts = [
        f'{row["seen"]}\n  {row["why"]}\n  see "{row["title"]}" in the guide'
        for row in explain(message)
    ]
    return "\n".join(texts)

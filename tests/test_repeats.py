# The guide explains a thing once and links it elsewhere; see CONTRIBUTING.md.
"""No sentence, snippet or function of an example stands on two pages."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
FENCE = re.compile(r"^ *(`{3,})(.*)\n((?:.*\n)*?) *\1$", re.MULTILINE)
ITEM = re.compile(r"^\s*(?:[*>-]|\d+\.) ", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SHORTEST = 9  # words: a shorter sentence may be the same by chance
LONGEST_HELPER = 3  # lines: a longer function belongs to guide_examples.py
INSTRUCTIONS = "Copy into your backend"  # what to take, to rename and to run


def sentences(text: str) -> Iterator[str]:
    """Sentences of a page, except for tables, instructions and prerequisites."""
    for section in re.split(r"^#+ ", FENCE.sub("", text), flags=re.MULTILINE):
        if section.startswith(INSTRUCTIONS):
            continue
        for paragraph in re.split(r"\n\s*\n", section.partition("\n")[2]):
            if paragraph.lstrip().startswith(("|", ":::")):
                continue
            for item in ITEM.split(paragraph):
                plain = LINK.sub(r"\1", " ".join(item.split()))
                for sentence in re.split(r"(?<=[.!?:]) (?=[A-Z`*])", plain):
                    known = sentence.startswith("Read ")
                    if not known and len(sentence.split()) >= SHORTEST:
                        yield sentence.strip("* ")


def snippets(text: str) -> Iterator[str]:
    """The markers whose code a page shows."""
    for _, directive, body in FENCE.findall(text):
        if directive.startswith("{literalinclude}"):
            yield from re.findall(r":start-after: (.+)", body)


def helpers(text: str) -> Iterator[str]:
    """The longer functions that the examples of a page define."""
    for _, directive, body in FENCE.findall(text):
        if not directive.startswith("{doctest}"):
            continue
        lines = body.splitlines()
        starts = [n for n, line in enumerate(lines) if line.startswith(">>> def ")]
        for start in starts:
            rest = groupby(lines[start + 1 :], lambda line: line.startswith("... "))
            inside, following = next(rest, (False, iter(())))
            function = [lines[start], *(following if inside else ())]
            if len(function) > LONGEST_HELPER:
                yield "\n".join(function)


def repeats(pages: dict[str, str]) -> list[str]:
    """What stands on two pages, with their names."""
    places: dict[str, set[str]] = defaultdict(set)
    for name, text in pages.items():
        for found in (*sentences(text), *snippets(text), *helpers(text)):
            places[found].add(name)
    return [
        f"{' and '.join(sorted(names))}: {found}"
        for found, names in places.items()
        if len(names) > 1
    ]


def test_nothing_is_told_twice():
    pages = [
        page for page in DOCS.glob("[!_]*/*.md") if page.parent.name != "reference"
    ]
    found = repeats({str(page.relative_to(DOCS)): page.read_text() for page in pages})
    assert not found, "tell it on one page and link that page:\n" + "\n".join(found)


SENTENCE = "The dispatcher calls the fallback only if there is no composite kernel.\n"
MARKER = "LITERALINCLUDE" + " START: GUARD"  # in two parts: this is no marker
SNIPPET = f"```{{literalinclude}} a.cpp\n:start-after: {MARKER}\n```\n"
HELPER = (
    "```{doctest}\n>>> def f(x):\n...     a = x\n...     b = a\n...     return b\n```\n"
)


def twice(text, other=None):
    """What is found where this text stands on two pages."""
    pages = {"a.md": "# A\n\n" + text, "b.md": "# B\n\n" + (other or text)}
    return [found.partition(": ")[2] for found in repeats(pages)]


def test_a_planted_sentence_is_found():
    assert twice(SENTENCE) == [SENTENCE.strip()]
    linked = SENTENCE.replace("fallback", "[fallback](fallback.md)")
    assert twice("* Some words.\n* " + SENTENCE, linked) == [SENTENCE.strip()]


def test_a_planted_snippet_is_found():
    assert twice(SNIPPET) == [MARKER]


def test_a_planted_function_is_found():
    assert twice(HELPER) == [HELPER.partition("\n")[2].removesuffix("\n```\n")]
    assert twice(HELPER, HELPER.replace("b = a", "b = a + 1")) == []


def test_prerequisites_instructions_and_tables_may_repeat():
    assert (
        twice("Read the chapters on streams, events and memory first, in order.\n")
        == []
    )
    assert twice("## Copy into your backend\n\n" + SENTENCE) == []
    assert twice(f"| a |\n|---|\n| {SENTENCE.strip()} |\n") == []
    assert twice("Run it.\n") == []

"""Measures the sentences of the pages; `nox -s lint` prints the table.

    python tests/sentence_lengths.py [--pages]

Explained in CONTRIBUTING.md, "Style". A list of facts has short sentences of one
length; connected prose has a mean of 14 to 18 words, and lengths that vary.
"""

import re
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^ *([`~:]{3,}).*\n(?:.*\n)*? *\1$", re.MULTILINE)
TARGET = re.compile(r"^\(.*\)=$", re.MULTILINE)
ITEM = re.compile(r"^\s*(?:[*>-]|\d+\.) ", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
END = re.compile(r"(?<=[.!?])[*\")]* (?=[A-Z`*\[\"])")


def sentences(text: str) -> list[str]:
    """The sentences of a page: of paragraphs and lists, not of tables and code."""
    found = []
    for paragraph in re.split(r"\n\s*\n", TARGET.sub("", FENCE.sub("\n\n", text))):
        if paragraph.lstrip().startswith(("|", "#", ":", "<", "(", "%")):
            continue
        for item in ITEM.split(paragraph):
            plain = CODE.sub("Code", LINK.sub(r"\1", " ".join(item.split())))
            parts = (part.strip() for part in END.split(plain))
            found += [part for part in parts if part.endswith((".", "!", "?"))]
    return found


def words(sentence: str) -> int:
    return len(sentence.split())


def mean_words(text: str) -> float:
    """Words of a sentence on average; 0 for a page of tables alone."""
    lengths = [words(sentence) for sentence in sentences(text)]
    return mean(lengths) if lengths else 0.0


def opening(text: str) -> str:
    """The first three words of a page."""
    found = sentences(text)
    return " ".join(found[0].split()[:3]) if found else ""


def pages() -> dict[str, str]:
    files = sorted((ROOT / "docs").rglob("*.md"))
    named = {str(path.relative_to(ROOT / "docs")): path.read_text() for path in files}
    return {name: text for name, text in named.items() if not name.startswith("_")}


def main(show_pages: bool) -> None:
    texts = pages()
    for part, group in groupby(texts, key=lambda name: name.rpartition("/")[0]):
        names = list(group)
        lengths = [words(one) for name in names for one in sentences(texts[name])]
        print(f"{part or '.':12} {mean(lengths):5.1f} words, {len(lengths)} sentences")
        if show_pages:
            for name in names:
                print(f"  {mean_words(texts[name]):5.1f}  {name}")
    openings = Counter(filter(None, map(opening, texts.values())))
    ((first, count),) = openings.most_common(1)
    print(f"openings     {count} of {len(texts)} pages begin with '{first}'")


if __name__ == "__main__":
    main("--pages" in sys.argv[1:])

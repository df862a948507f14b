"""Checks the language of pages, comments and messages; `nox -s lint` runs it.

Explained in CONTRIBUTING.md, "Style". codespell refuses British spellings.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

READ = {".c", ".cmake", ".cpp", ".css", ".h", ".html", ".in", ".js", ".md", ".py"}
READ |= {".pyi", ".sh", ".toml"}
THE_LIST = {"tests/lint_language.py", "tests/test_lint_language.py"}
# A phrase, and what to write instead. Spaces also match a line break in a comment.
PHRASES = {
    r"for ever": "permanently, indefinitely, or a deadlock",
    r"the other way round": "in the opposite order, or the opposite",
    r"(?<!other\s)ways? round": "workaround",
    r"way back": "what happens: coalescing, or a link to the previous page",
    r"way of one operator": "path of one operator",
    r"the way of the": "path of the",
    r"(?<!word\s)in words": "raises ..., or an error that says",
    r"who (?:waits|wants|gets|comes|enqueues)": "the noun: the thread, the caller",
    r"whoever": "the noun: the thread, the caller",
    r"(?:do|does|did|doing) so": "the verb",
    r"look(?:s|ed|ing)? at": "reads, checks, inspects or queries",
    r"(?:give|gives|gave|given|giving) back": "returns or releases",
    r"of before": "previous",
    r"gets? on": "progresses; a stream that does not is stalled",
    r"now and then": "occasionally, or at intervals",
    r"without a word": "silently",
    r"(?<!\")nobody": "the noun: no thread, no caller, or a passive without it",
    r"dies": "is freed, is destroyed, ends or is killed",
    r"knows": "has, finds, detects or supports",
    r"tells": "returns, reports, shows or lists",
    r"never heard of": "never uses the ...",
    r"takes? the math way": "uses the math backend",
    r"be(?:ar|ars|ing) being": "tolerates",
    r"before you like it": "before you commit to it",
    r"an? \w+ of (?:its|their|your) own": "its own ..., or a separate ...",
    r", too(?=[.;:)\"])": "also before the verb, or nothing",
    r"has room for": "can load only, or fits",
    r"words of (?:the|a) driver": "driver message",
}
GAP = r"(?:\s|//|#|\*)+"  # a comment may continue on the next line
RULES = [
    (re.compile(rf"\b(?:{phrase.replace(' ', GAP)})\b", re.IGNORECASE), instead)
    for phrase, instead in PHRASES.items()
]
FENCE = re.compile(r"^(`{3,}|~{3,})[^`\n]*\n.*?^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}[ \t]+(.*\S)", re.MULTILINE)
CODE = re.compile(r"(`+).+?\1")
LONGEST_HEADING = 12  # words
NUMBER = re.compile(r"\d+\. ")
NAMES = {
    *("Arm", "Dynamo", "Gloo", "Inductor", "Kineto", "None", "Python", "Transformer"),
    *("Triton", "Work"),
}
# What a heading may begin with, besides a capital letter, a digit and an identifier.
LOWER_NAMES = {
    *("accelerate", "byteswap", "gdb", "ignite", "opcheck", "synchronize", "torchao"),
    *("torchtitan", "transformers", "vmap"),
}


def problems(name: str, text: str) -> Iterator[str]:
    """What is wrong with the language of one file, as `name:line: what` texts."""
    yield from phrase_problems(name, text)
    if name.endswith(".md"):
        yield from heading_problems(name, text)


def heading_problems(name: str, text: str) -> Iterator[str]:
    """What is wrong with the headings of a page; code between backticks is a name."""
    prose = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)
    for match in HEADING.finditer(prose):
        line = prose.count("\n", 0, match.start()) + 1
        for fault in heading_faults(CODE.sub("X", match[1])):
            yield f"{name}:{line}: heading '{match[1]}'; {fault}"


def heading_faults(heading: str) -> Iterator[str]:
    """What is wrong with the text of a heading."""
    words = NUMBER.sub("", heading).split()
    if heading[-1] in ".:;,":
        yield "write no punctuation at its end"
    if re.search(r"[?!](?:\s|$)", heading):
        yield "write a noun phrase, no question and no exclamation"
    if len(words) > LONGEST_HEADING:
        yield f"write at most {LONGEST_HEADING} words"
    first = words[0].rstrip(",:")
    if re.fullmatch("[a-z]+", first) and first not in LOWER_NAMES:
        yield "begin with a capital letter, or list the name in LOWER_NAMES"
    for word in words[1:]:
        plain = re.sub(r"^\W+|\W+$|'s\W*$", "", word)
        if re.fullmatch(r"[A-Z][a-z]+(?:-\w+)*", plain) and plain not in NAMES:
            yield f"begin '{plain}' with a small letter, or list it in NAMES"


def phrase_problems(name: str, text: str) -> Iterator[str]:
    """The phrases of the list in one file."""
    for rule, instead in RULES:
        for match in rule.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found = " ".join(match[0].split())
            yield f"{name}:{line}: '{found}'; write: {instead}"


def is_read(name: str) -> bool:
    return Path(name).suffix in READ and name not in THE_LIST


def main(names: list[str]) -> int:
    if not names:
        print("usage: python tests/lint_language.py FILE...", file=sys.stderr)
        return 2
    root = Path(__file__).resolve().parent.parent
    texts = {name: (root / name).read_text() for name in names if is_read(name)}
    found = [
        problem for name, text in texts.items() for problem in problems(name, text)
    ]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"language: {len(texts)} files, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

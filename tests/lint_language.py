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
}
GAP = r"(?:\s|//|#|\*)+"  # a comment may continue on the next line
RULES = [
    (re.compile(rf"\b(?:{phrase.replace(' ', GAP)})\b", re.IGNORECASE), instead)
    for phrase, instead in PHRASES.items()
]


def problems(name: str, text: str) -> Iterator[str]:
    """What is wrong with the language of one file, as `name:line: what` texts."""
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

# Rules for the C++ sources that no compiler checks; see docs/runtime/errors.md.
import re
from pathlib import Path

import pytest

OPENREG = Path(__file__).resolve().parents[2]
FOLDERS = ("csrc", "torch_openreg/csrc", "tests/custom")
CATCH = re.compile(r"\bcatch \((const )?c10::Error\b")
NEXT = re.compile(r"\} catch \((const std::exception&|\.\.\.)")


def narrow_clauses(text: str) -> list[int]:
    """Lines that catch torch's exceptions, and let those of the library pass.

    A conversion that overflows throws std::runtime_error, memory that is not there
    std::bad_alloc, and c10::Error is neither. So another clause has to follow.
    """
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        if CATCH.search(line):
            indent = len(line) - len(line.lstrip())
            ends = (x for x in lines[number + 1 :] if x.startswith(" " * indent + "}"))
            if not NEXT.search(next(ends, "")):
                found.append(number + 1)
    return found


def test_no_clause_catches_torch_errors_alone():
    found = {}
    paths = [
        path
        for folder in FOLDERS
        for path in (OPENREG / folder).rglob("*")
        if path.suffix in (".h", ".cpp")
    ]
    assert len(paths) > 100
    for path in paths:
        if lines := narrow_clauses(path.read_text()):
            found[path.name] = lines
    assert found == {}


@pytest.mark.parametrize(
    ("behind", "lines"),
    [
        ("}", [3]),
        ("} catch (const std::bad_alloc&) {\n  }", [3]),
        ("} catch (const std::exception& error) {\n  }", []),
        ("} catch (...) {\n  }", []),
    ],
)
def test_the_rule_finds_a_narrow_clause(behind, lines):
    text = (
        f"  try {{\n    f();\n  }} catch (const c10::Error& e) {{\n    g();\n  {behind}"
    )
    assert narrow_clauses(text) == lines

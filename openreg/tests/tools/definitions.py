# Which sources define what a file of the backend uses; see docs/start/features.md.
"""For feature_files.py, which itself takes the source beside each header.

This reads C++ as clang-format leaves it: at the outer level, a line starts with what it
declares or defines. ``list_links.py`` compares the result with object files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from ladder_stages import OPENREG, included

NOT_CODE = re.compile(r'//.*|"(?:[^"\\\n]|\\.)*"')
NAMELESS = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)
STATEMENT = re.compile(r"^(?![ }#\n])([^;{}]*)([;{])", re.MULTILINE)
# Nothing that other files need follows these words.
LOCAL = {"static", "inline", "using", "template"}
CLASS = re.compile(r"(?:class|struct) (?:[A-Z_]+ )?(\w+)")
FUNCTION = re.compile(r"((?:\w+::)*)~?(\w+)\(")
VARIABLE = re.compile(r"extern .* (\w+)$", re.DOTALL)
INDENTED = re.compile(r"^ .*\n", re.MULTILINE)
USED = [
    re.compile(r"(?<![\w.>:])(?:openreg::)?(\w+)\("),  # neither x.name() nor at::name()
    re.compile(r"\bm\.impl\(,\s+(\w+)\)"),  # a row of a table, without its text
    re.compile(r"&openreg::(\w+)\)"),
    re.compile(r"\b(k[A-Z]\w+)"),
]


@dataclass
class Names:
    """What a file has at its outer level, with namespaces."""

    classes: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)  # a member counts as its class


def defining(file: str) -> set[str]:
    """The sources that define what a file uses, but for those beside a header.

    A class that a header has needs all of its members.

    Args:
        file: relative to openreg/, like the result.
    """
    used = used_in(file)
    found = set()
    for header in headers_of(file):
        for name, sources in elsewhere(header).items():
            if name in names_of(header).classes or name.split("::")[-1] in used:
                found |= sources
    return found


@cache
def headers_of(file: str) -> frozenset[str]:
    """The headers that a file includes, and itself if it is one."""
    found: set[str] = set()
    left = [file]
    while left:
        name = left.pop()
        if name not in found and (OPENREG / name).is_file():
            found.add(name)
            left += included(OPENREG / name)
    return frozenset(name for name in found if name.endswith(".h"))


@cache
def elsewhere(header: str) -> dict[str, set[str]]:
    """For what a header declares, the sources not beside it that define it."""
    names = names_of(header)
    found: dict[str, set[str]] = {}
    for path in (OPENREG / "csrc").rglob("*.cpp"):
        source = str(path.relative_to(OPENREG))
        if path != (OPENREG / header).with_suffix(".cpp") and header in included(path):
            for name in names_of(source).defined & (names.declared | names.classes):
                found.setdefault(name, set()).add(source)
    return found


@cache
def names_of(file: str) -> Names:
    """What a file declares and defines for other files."""
    names = Names()
    space = ""
    for text, end in STATEMENT.findall(code_of(file, NAMELESS)):
        first = text.split()[0]
        function, one = FUNCTION.search(text), CLASS.match(text)
        variable = VARIABLE.match(text)
        if first == "namespace":
            space = f"{text.split()[1]}::"
        elif one:
            if end == "{":
                names.classes.add(space + one[1])
        elif function and first not in LOCAL:
            name = space + (function[1].split("::")[0] or function[2])
            defines = end == "{" or file.endswith(".cpp")
            (names.defined if defines else names.declared).add(name)
        elif variable:
            names.declared.add(space + variable[1])
    return names


@cache
def used_in(file: str) -> frozenset[str]:
    """The names that a file calls, registers or reads, without namespaces."""
    code = code_of(file)
    if file.endswith(".h"):
        code = "".join(INDENTED.findall(code))  # the rest declares
    return frozenset(name for pattern in USED for name in pattern.findall(code))


def code_of(file: str, *without: re.Pattern[str]) -> str:
    """A file without some parts, comments and texts."""
    text = (OPENREG / file).read_text()
    for part in (*without, NOT_CODE):
        text = part.sub("", text)
    return text

# Reads extension points from C++ headers; see docs/ship/upgrading.md.
"""Virtual functions, enumerators, macros and register functions.

This is no parser of C++: it strips comments, matches braces, and takes a class apart
into statements. That is enough for headers that declare interfaces.
"""

import re
from collections.abc import Iterator

Found = dict[str, str]

COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
LABEL = re.compile(r"^(?:\s*(?:public|protected|private)\s*:(?!:))+")
UNUSED = re.compile(r"\(void\)\s*\w+;")
LONG = 300  # a default implementation of more characters is not compared
HEAD = re.compile(
    r"(?<!enum )\b(?:class|struct)\s+([^;{}()=<>]*?(\w+))\s*(?::[^;{}]*)?\{"
)
NAME = re.compile(r"(operator\W+|~?\w+)\s*\(")
REGISTERS = re.compile(
    r"\b(?:TORCH|C10)_API\s+(?:static\s+)?([\w:<>,*&\s]+?)"
    r"\b((?i:register)\w*|[Ss]et\w*(?:Allocator|Hooks)\w*)\s*(\([^;{]*?\))\s*[;{]"
)
MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+((?:C10_REGISTER|REGISTER|TORCH_LIBRARY|TORCH_FEATURE"
    r"|C10D_BACKEND_HAS)\w*|\w*PRIVATEUSE1\w*)(\([^)\n]*\))?",
    re.MULTILINE,
)


def plain(text: str) -> str:
    """Return the text without comments and preprocessor lines."""

    def keep_strings(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else " "

    return DIRECTIVE.sub("", COMMENT.sub(keep_strings, text))


def virtuals(text: str, classes: set[str]) -> Found:
    """Return ``Class::function(parameters)`` for each virtual of these classes."""
    found: Found = {}
    for name, body in _classes(plain(text)):
        if name in classes:
            found |= _virtuals_of(name, body)
    return found


def enumerators(text: str, enums: set[str]) -> Found:
    """Return ``Enum::Name`` for each enumerator of these enums."""
    found: Found = {}
    head = re.compile(r"\benum\s+(?:class\s+|struct\s+)?(\w+)[^;{]*\{([^}]*)\}")
    for name, body in head.findall(plain(text)):
        if name in enums:
            for entry in body.split(","):
                enumerator = entry.partition("=")[0].strip()
                if re.fullmatch(r"\w+", enumerator):
                    found[f"{name}::{enumerator}"] = ""
    return found


def lists(text: str) -> Found:
    """Return the entries of ``C10_FORALL_...``, from which torch makes enumerators."""
    found: Found = {}
    head = re.compile(r"#define (C10_FORALL_\w+)\(_, extra\)((?:[^\n]*\\\n)*[^\n]*)")
    for name, body in head.findall(text):
        for entry in re.findall(r"\b_\((\w+), extra\)", body):
            found[f"{name}::{entry}"] = ""
    return found


def macros(text: str) -> Found:
    """Return the macros that register something, or tell of a feature."""
    return dict(MACRO.findall(text))


def register_functions(text: str) -> Found:
    """Return exported functions that register an object with torch."""
    found = {}
    for result, name, parameters in REGISTERS.findall(plain(text)):
        found[name] = _tidy(f"{result} {name}{parameters}")
    return found


def _classes(text: str) -> Iterator[tuple[str, str]]:
    for head in HEAD.finditer(text):
        name = re.sub(r"\s+final$", "", head[1]).split()[-1]
        yield name, text[head.end() : _end_of_block(text, head.end())]


def _end_of_block(text: str, start: int) -> int:
    """Return where the block ends whose opening brace is in front of ``start``."""
    depth = 1
    for match in re.compile(r'"(?:\\.|[^"\\\n])*"|[{}]').finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return len(text)


def _virtuals_of(name: str, body: str) -> Found:
    found: Found = {}
    for statement, block in _statements(body):
        inner = HEAD.search(statement + "{")
        if inner and block is not None and "(" not in statement:
            nested = re.sub(r"\s+final$", "", inner[1]).split()[-1]
            found |= _virtuals_of(f"{name}::{nested}", block)
        elif re.search(r"\bvirtual\b|\boverride\b", statement):
            called = _name_of(statement)
            start = statement.find("(", statement.find(called))
            types = _types_of(statement[start + 1 : _after(statement, start) - 1])
            result = statement[: statement.find(called)]
            qualifiers = statement[_after(statement, start) :]
            default = _tidy(UNUSED.sub("", block)) if block is not None else ""
            if len(default) > LONG:
                default = "..."
            # A parameter's name may change without a change for who overrides it.
            found[f"{name}::{called}{types}"] = (
                f"{_tidy(result)} {called}{types} {_tidy(qualifiers)}"
                + (f" {{ {default} }}" if default else "")
            )
    return found


def _statements(body: str) -> Iterator[tuple[str, str | None]]:
    """Yield each declaration of a class, and the block that follows, if one does."""
    start = position = 0
    while position < len(body):
        character = body[position]
        if character == "(":
            position = _after(body, position)
        elif character == ";":
            yield LABEL.sub("", body[start:position]).strip(), None
            start = position = position + 1
        elif character == "{":
            end = _end_of_block(body, position + 1)
            head = LABEL.sub("", body[start:position]).strip()
            yield head, body[position + 1 : end]
            start = position = end + 1
        else:
            position += 1


def _after(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return len(text)


def _name_of(statement: str) -> str:
    """Return the function's name: the first before a parenthesis, outside of <>."""
    for match in NAME.finditer(statement):
        before = statement[: match.start()]
        if before.count("<") == before.count(">") and match[1] not in ("decltype",):
            return match[1].strip()
    return statement.split()[-1]


def _types_of(parameters: str) -> str:
    """Return the types of the parameters, without names and default values."""
    types = []
    for parameter in _split(parameters):
        text = re.sub(r"\[\[\w+\]\]", "", parameter.partition("=")[0])
        text = _tidy(text)
        match = re.fullmatch(r"(.*[\s&*>])(\w+)", text)
        if match and match[1].strip() not in ("const", "unsigned", "struct"):
            text = match[1].strip()
        types.append(text)
    return f"({', '.join(types)})"


def _split(parameters: str) -> list[str]:
    """Split at the commas that are outside of brackets."""
    parts, depth = [""], 0
    for character in parameters:
        depth += {"<": 1, "(": 1, "{": 1, ">": -1, ")": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


def _tidy(text: str) -> str:
    text = re.sub(r"\s*([(),<>])\s*", r"\1", " ".join(text.split()))
    text = re.sub(r"\s*([&*]+)\s*", r"\1 ", text).replace(",", ", ")
    return (
        re.sub(r"> ?(?=\w)", "> ", text)
        .replace("& )", "&)")
        .replace("* )", "*)")
        .strip()
    )

# `{c-header} FILE`: a header of the driver, for docs/reference/driver.md.
"""Reads a C header: a comment describes the declarations right below it.

A line of dashes begins a section; a comment that a blank line follows is a separate
paragraph. This is no parser of C: it reads the headers of the driver, whose form
docs/_ext/tests/test_driver_reference.py checks.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

INCLUDE = Path("openreg/third_party/openreg/include")
PART = re.compile(
    r"/\* -{4,} (?P<section>[^\n]*?) -+ \*/"
    r"|/\*(?P<comment>.*?)\*/"
    r"|OPENREG_API (?P<function>[^;]+);"
    r"|(?P<type>(?:typedef|enum) [^{;]*(?:\{[^}]*\})?[^;]*;)"
    r"|(?P<blank>\n[ \t]*(?=\n))"
    r"|(?P<other>[^\n]+)",
    re.DOTALL,
)
NAME = re.compile(r"(?:or|occl)[A-Z]\w*")
CODE = re.compile(r"(`[^`]+`)")
WORD = re.compile(
    r"\*\w+|\b(?:OPENREG|OCCL)_[A-Z_]+\b|\b(?:or|occl)[A-Z]\w*(?:\(\w*\))?"
)
PAGE = re.compile(r"\bdocs/([\w-]+/[\w-]+\.md)")
VARIABLE = re.compile(r"^  ([A-Z_]{4,})  +(.*(?:\n {10,}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """What one comment describes: `kind` is section, text, function or type."""

    kind: str
    comment: str
    declarations: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The name of each declaration."""
        if self.kind == "function":
            found = (NAME.findall(text.partition("(")[0]) for text in self.declarations)
            return [names[-1] for names in found]
        text = self.declarations[0]
        behind = text.rpartition("}")[2] if "{" in text else text
        pointer = re.search(r"\(\*(\w+)\)", behind)
        return [pointer[1]] if pointer else NAME.findall(behind)[-1:]


@cache
def read_header(path: Path) -> list[Entry]:
    """The entries of a header in its order; the first is the comment of the file."""
    entries: list[Entry] = []
    declared: list[str] = []
    comment, kind = "", "text"

    def close() -> None:
        nonlocal comment, declared, kind
        if comment or declared:
            entries.append(Entry(kind, _plain(comment), tuple(declared)))
        comment, declared, kind = "", [], "text"

    for part in PART.finditer(path.read_text(encoding="utf-8")):
        if part["section"]:
            close()
            entries.append(Entry("section", part["section"]))
        elif part["comment"]:
            close()
            comment = part["comment"]
        elif part["function"] or part["type"]:
            now = "function" if part["function"] else "type"
            if declared and (kind, now) != ("function", "function"):
                close()
            kind = now
            text = part["function"] or part["type"]
            declared.append(" ".join(text.split()) if part["function"] else text)
        elif part["blank"] is not None:
            close()
    close()
    return entries


def _plain(comment: str) -> str:
    """The text of a comment without its frame."""
    lines = [re.sub(r"^ ?\*? ?", "", line, count=1) for line in comment.split("\n")]
    return textwrap.dedent("\n".join(lines)).strip()


def markdown_of(comment: str, functions: set[str], types: set[str]) -> str:
    """A comment as Markdown: names become links, the environment a list."""

    def word(match: re.Match[str]) -> str:
        name, _, rest = match[0].partition("(")
        if name in functions:
            return f"{{c:func}}`{name}`"
        return f"{{c:type}}`{name}`" if name in types and not rest else f"`{match[0]}`"

    def variable(match: re.Match[str]) -> str:
        return f"* `{match[1]}`: {' '.join(match[2].split())}"

    parts = CODE.split(VARIABLE.sub(variable, comment))
    for number in range(0, len(parts), 2):
        text = re.sub(r"[<\[]", r"\\\g<0>", parts[number])
        parts[number] = PAGE.sub(r"[](../\1)", WORD.sub(word, text))
    return "".join(parts)


def page_text(entries: list[Entry], functions: set[str], types: set[str]) -> str:
    """The Markdown of a header."""
    blocks = []
    for entry in entries:
        text = markdown_of(entry.comment, functions, types)
        if entry.kind == "section":
            title = entry.comment.partition(":")[0]
            blocks.append(f"### {title[0].upper()}{title[1:]}")
        elif entry.kind == "text":
            blocks.append(text)
        elif entry.kind == "function":
            *first, last = entry.declarations
            blocks += [f"```{{c:function}} {text}\n```" for text in first]
            blocks.append(f"````{{c:function}} {last}\n{text}\n````")
        else:
            blocks.append(_type_text(entry, text))
    return "\n\n".join(blocks)


def _type_text(entry: Entry, text: str) -> str:
    (declaration,) = entry.declarations
    if "{" in declaration:
        text += f"\n\n```{{c-declaration}}\n{declaration}\n```"
        if not entry.names:  # an enumeration without a name
            return text
        return f"````{{c:type}} {entry.names[0]}\n{text.strip()}\n````"
    signature = " ".join(declaration.removeprefix("typedef").rstrip(";").split())
    return f"````{{c:type}} {signature}\n{text}\n````"


class CDeclaration(SphinxDirective):
    """Shows a type of a header as it is written there."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        return [nodes.literal_block(text, text, language="c", contract="c-header")]


class CHeader(SphinxDirective):
    """Describes a header of the driver."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        folder = Path(
            self.config.driver_headers or Path(self.env.srcdir).parent / INCLUDE
        )
        path = folder / self.arguments[0]
        self.env.note_dependency(str(path))
        functions: set[str] = set()
        types: set[str] = set()
        for header in folder.glob("*.h"):
            for entry in read_header(header):
                if entry.kind == "function":
                    functions.update(entry.names)
                elif entry.kind == "type":
                    types.update(entry.names)
        text = page_text(read_header(path), functions, types)
        before, heading, sections = text.partition("### ")
        # MyST drops what stands before the first heading of a nested text.
        parse = self.parse_text_to_nodes
        return parse(before) + parse(heading + sections, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_config_value("driver_headers", "", "env", [str])
    app.add_directive("c-header", CHeader)
    app.add_directive("c-declaration", CDeclaration)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

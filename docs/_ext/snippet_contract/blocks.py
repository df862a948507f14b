"""Finds the blocks of a Markdown page exactly where MyST finds them.

Explained in CONTRIBUTING.md, "Writing a chapter". Shared by the Sphinx extension and
the page runner, so needs neither Sphinx nor docutils. `blocks(text)` returns every
fence, colon fence and indented code block, those inside tabs, cards, lists and
admonitions included, in the order of the page and with the lines of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_block import make_fence_rule
from mdit_py_plugins.attrs import attrs_block_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.substitution import substitution_plugin

# Directives whose body is not Markdown. Everything else is looked into.
LITERAL_DIRECTIVES = {
    *("doctest", "transcript", "illustrative", "literalinclude", "torch-quote"),
    *("code", "code-block", "sourcecode", "highlight", "parsed-literal", "raw"),
    *("testcode", "testoutput", "testsetup", "testcleanup", "include", "eval-rst"),
    *("math", "mermaid", "graphviz", "productionlist", "csv-table", "toctree"),
}

OPTION = re.compile(r":([A-Za-z][\w-]*):(?:\s|$)\s*(.*)")
YAML_OPTION = re.compile(r"([A-Za-z][\w-]*):(?:\s|$)\s*(.*)")


@dataclass(frozen=True)
class Option:
    """One `:key: value` of a directive."""

    key: str
    value: str
    line: int


@dataclass(frozen=True)
class Block:
    """One fence or indented block of a page; lines count from 1."""

    kind: str  # "fence", "colon_fence" or "code_block" (indented)
    directive: str  # name between the braces, or ""
    argument: str  # what follows on the opening line; the language of a plain fence
    options: tuple[Option, ...]
    body: str
    line: int  # of the opening fence
    body_line: int  # of the first line of the body
    closed: bool

    @property
    def body_lines(self) -> range:
        count = len(self.body.splitlines())
        return range(self.body_line, self.body_line + count)


def find_pages(docs: Path) -> list[Path]:
    """All pages below `docs`, leaving out folders that start with "_" or "."."""
    return sorted(
        path
        for path in docs.rglob("*.md")
        if not any(part[0] in "_." for part in path.relative_to(docs).parts[:-1])
    )


def blocks(text: str) -> list[Block]:
    """Every block of a page, outer ones before the ones they contain."""
    return list(_blocks(text, 0))


@cache
def _parser() -> MarkdownIt:
    # The block rules that myst-parser turns on for the extensions this site uses.
    parser = (
        MarkdownIt("commonmark")
        .enable("table")
        .use(front_matter_plugin)
        .use(myst_block_plugin)
        .use(footnote_plugin, inline=False, move_to_end=False, always_match_refs=True)
        .use(deflist_plugin)
        .use(substitution_plugin)
        .use(attrs_block_plugin)
    )
    ends = ["paragraph", "reference", "blockquote", "list", "footnote_def"]
    rule = make_fence_rule(markers=(":",), token_type="colon_fence")
    parser.block.ruler.before("fence", "colon_fence", rule, {"alt": ends})
    return parser.disable("inline")


def _blocks(text: str, offset: int) -> Iterator[Block]:
    lines = text.splitlines()
    for token in _parser().parse(text + "\n"):
        if token.map is None:
            continue
        first, end = token.map
        line = offset + first + 1
        if token.type == "code_block":
            yield Block("code_block", "", "", (), token.content, line, line, True)
            continue
        if token.type not in ("fence", "colon_fence"):
            continue
        name, argument = [*token.info.split(maxsplit=1), "", ""][:2]
        closing = lines[end - 1] if first < end - 1 < len(lines) else ""
        fence = re.escape(token.markup)
        closed = re.search(rf"(?:^|[\s>]){fence}{fence[-1]}*\s*$", closing) is not None
        if not (name.startswith("{") and name.endswith("}")):
            info = token.info.strip()
            yield Block(token.type, "", info, (), token.content, line, line + 1, closed)
            continue
        options, body, used = split_options(token.content, line + 1)
        block = Block(
            token.type,
            name[1:-1],
            argument.strip(),
            options,
            body,
            line,
            line + 1 + used,
            closed,
        )
        yield block
        if block.directive not in LITERAL_DIRECTIVES:
            yield from _blocks(body, block.body_line - 1)


def split_options(content: str, line: int) -> tuple[tuple[Option, ...], str, int]:
    """Options at the head of a directive, its body, and how many lines they took."""
    lines = content.splitlines(keepends=True)
    if content.startswith("---"):
        pattern, head, skip = YAML_OPTION, [], 1
        while skip < len(lines) and not lines[skip].startswith("---"):
            head.append(lines[skip])
            skip += 1
        used, start = min(skip + 1, len(lines)), line + 1
    else:
        pattern, used, start = OPTION, 0, line
        while used < len(lines) and _is_option_line(lines[used]):
            used += 1
        head = [text.lstrip() for text in lines[:used]]
    found = (
        (match, number)
        for number, text in enumerate(head, start)
        if (match := pattern.match(text.rstrip("\n")))
    )
    options = tuple(Option(m[1], m[2].strip(), number) for m, number in found)
    return options, "".join(lines[used:]), used


def _is_option_line(text: str) -> bool:
    stripped = text.lstrip()
    return stripped.startswith(":") and not stripped.startswith(":::")

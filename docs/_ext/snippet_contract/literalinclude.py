"""`{literalinclude}`: code of the repository between two markers, and nothing else.

Explained in CONTRIBUTING.md, "Writing a chapter". The author writes

    ```{literalinclude} ../../openreg/csrc/runtime/interface/OpenRegGuardImpl.cpp
    :language: cpp
    :start-after: LITERALINCLUDE START: GUARD_REGISTER
    :end-before: LITERALINCLUDE END: GUARD_REGISTER
    :emphasize-text: C10_REGISTER_GUARD_IMPL
    ```
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from snippet_contract.header import captioned
from snippet_contract.markers import Snippet
from snippet_contract.report import CODE_WIDTH, problem
from snippet_contract.snippet_use import index_of, note_use

ALLOWED = ("language", "start-after", "end-before", "emphasize-text", "caption", "name")
CALLOUT = re.compile(r"(?://|#)\s*\((\d+)\)\s*$")


class MarkedInclude(SphinxDirective):
    """Shows one marked snippet; anything that could drift is refused."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = False
    # Sphinx's own options stay known, so that the refusal can say what to do instead.
    option_spec: ClassVar[OptionSpec] = {
        **dict.fromkeys(LiteralInclude.option_spec, directives.unchanged),
        "emphasize-text": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        path = self._path()
        name = self._snippet_name()
        if path is None or name is None or not self._options_are_good():
            return [nodes.comment()]
        snippet = self._snippet(path, name)
        if snippet is None:
            return [nodes.comment()]
        self._check_width(path, snippet)
        block = nodes.literal_block(snippet.text, snippet.text)
        block["language"] = self.options["language"]
        block["contract"] = "include"
        block["snippet"] = (path, name)
        block["highlight_args"] = {"hl_lines": self._emphasis(path, snippet)}
        block["callouts"] = callouts(snippet.text)
        self.set_source_info(block)
        self.add_name(block)
        text = self.options.get("caption") or ""
        node = captioned(block, text, file=path, line=snippet.start + 1)
        self.set_source_info(node)
        return [node]

    def _problem(self, rule: str, text: str) -> None:
        problem(rule, text, (self.env.docname, self.lineno))

    def _path(self) -> str | None:
        """The file as a path in the repository, if a page may show it."""
        index = index_of(self.env)
        file = Path(self.env.relfn2path(self.arguments[0])[1]).resolve()
        if not file.is_relative_to(index.root):
            self._problem("path", f"{self.arguments[0]} lies outside the repository")
            return None
        path = file.relative_to(index.root).as_posix()
        if path in index.snippets:
            self.env.note_dependency(str(file))
            return path
        if not file.is_file():
            text = f"{path} does not exist"
        elif not index.may_be_shown(file):
            text = (
                f"{path} is a copy made for the docs. Show the file that is built"
                " and tested"
            )
        else:
            text = f"{path} is no source file: git ignores it, or it is not text"
        self._problem("path", f"{text}. Name a source file of the repository.")
        return None

    def _options_are_good(self) -> bool:
        for option in self.options:
            if option not in ALLOWED:
                self._problem(
                    "option",
                    f"literalinclude takes no :{option}: here, because line numbers"
                    " and loose texts drift. Mark the region in the source and name"
                    " it with :start-after: and :end-before:; emphasize by"
                    " :emphasize-text:.",
                )
                return False
        if not self.options.get("language"):
            self._problem("option", "add :language:, for example ':language: cpp'")
            return False
        return True

    def _snippet_name(self) -> str | None:
        names = []
        for option, word in (("start-after", "START"), ("end-before", "END")):
            value = self.options.get(option) or ""
            match = re.fullmatch(rf"LITERALINCLUDE {word}: ([A-Z0-9_]+)", value)
            if match is None:
                self._problem(
                    "option",
                    f":{option}: is {value!r}. It must be 'LITERALINCLUDE {word}: NAME'"
                    ", NAME made of A-Z, 0-9 and _.",
                )
                return None
            names.append(match[1])
        if names[0] != names[1]:
            text = f":start-after: names {names[0]}, :end-before: names {names[1]}"
            self._problem("option", text + ". Use one name.")
            return None
        return names[0]

    def _snippet(self, path: str, name: str) -> Snippet | None:
        snippets = index_of(self.env).snippets[path]
        note_use(self.env, path, name)
        snippet = snippets.get(name)
        if snippet is None:
            known = ", ".join(sorted(snippets)) or "none"
            self._problem(
                "marker", f"{path} has no snippet named {name}. It has: {known}."
            )
        elif not snippet.text.strip():
            self._problem("empty", f"snippet {name} of {path} is empty")
            return None
        return snippet

    def _check_width(self, path: str, snippet: Snippet) -> None:
        for number, line in enumerate(snippet.text.splitlines(), snippet.start + 1):
            if len(line) > CODE_WIDTH:
                problem(
                    "width",
                    f"snippet {snippet.name}: this line has {len(line)} columns, at"
                    f" most {CODE_WIDTH} fit on the page. Break it.",
                    f"{path}:{number}",
                )

    def _emphasis(self, path: str, snippet: Snippet) -> list[int]:
        lines = snippet.text.splitlines()
        chosen = []
        for text in (self.options.get("emphasize-text") or "").splitlines():
            if not (wanted := text.strip()):
                continue
            hits = [n for n, line in enumerate(lines, 1) if wanted in line]
            if len(hits) != 1:
                self._problem(
                    "emphasis",
                    f":emphasize-text: {wanted!r} is in {len(hits)} lines of snippet"
                    f" {snippet.name} of {path}; it must be in exactly one.",
                )
            chosen += hits[:1]
        return sorted(chosen)


def callouts(code: str) -> list[int]:
    """Numbers of the comments like `// (1)` that end lines of a snippet."""
    found = (CALLOUT.search(line) for line in code.splitlines())
    return [int(match[1]) for match in found if match]


def setup(app: Sphinx) -> None:
    app.add_directive("literalinclude", MarkedInclude, override=True)

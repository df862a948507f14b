"""A small repository with a guide, in which the tests of the contract plant faults.

Explained in CONTRIBUTING.md, "Writing a chapter". A test plants one fault in `pages` or
`sources`, builds, and compares all warnings that the build gave.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

CONF = """
project = "Guide"
extensions = ["myst_parser", "sphinx_design", "snippet_contract"]
myst_enable_extensions = [
    "colon_fence", "deflist", "attrs_inline", "attrs_block", "substitution"
]
highlight_language = "none"
exclude_patterns = ["_ext", "_tests"]
"""
WARNING = re.compile(
    r"^(?:(?P<place>[^\n]*?): )?(?:WARNING|ERROR): (?P<text>.*?)"
    r" \[(?P<rule>[\w.-]+)\]\n",
    re.MULTILINE | re.DOTALL,
)
COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Warned(NamedTuple):
    """One warning of a build; `place` is relative to the repository."""

    rule: str
    place: str
    text: str


def mark(name: str, *lines: str, comment: str = "#") -> str:
    """A marked snippet; written so that this file itself carries no marker."""
    word = "LITERALINCLUDE"
    start = f"{comment} {word} START: {name}"
    return "\n".join([start, *lines, f"{comment} {word} END: {name}"]) + "\n"


def include(path: str, name: str, *options: str, language: str = "python") -> str:
    """A page's block that shows a snippet."""
    lines = [
        f"```{{literalinclude}} {path}",
        f":language: {language}",
        f":start-after: LITERALINCLUDE START: {name}",
        f":end-before: LITERALINCLUDE END: {name}",
        *options,
        "```",
    ]
    return "\n".join(lines) + "\n"


class Project:
    """A repository in a folder; `build()` renders its guide."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.docs = root / "docs"
        self.out = root / "out"
        self.conf = CONF
        self.write("docs/index.md", "# Guide\n")

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def page(self, *blocks: str) -> None:
        """Write the front page: a title in line 1, the first block from line 3."""
        self.write("docs/index.md", "# Guide\n\n" + "\n".join(blocks))

    def build(self, builder: str = "dummy", *, fresh: bool = True) -> list[Warned]:
        self.write("docs/conf.py", self.conf)
        warnings = io.StringIO()
        with patch_docutils(str(self.docs)), docutils_namespace():
            app = Sphinx(
                self.docs,
                self.docs,
                self.out,
                self.out / ".doctrees",
                builder,
                status=None,
                warning=warnings,
                freshenv=fresh,
                exception_on_warning=False,
            )
            app.build()
        return self._read_warnings(COLOR.sub("", warnings.getvalue()))

    def _read_warnings(self, output: str) -> list[Warned]:
        found = [
            Warned(m["rule"], self._relative(m["place"] or ""), m["text"])
            for m in WARNING.finditer(output)
        ]
        assert len(found) == output.count("WARNING: ") + output.count("ERROR: "), output
        return found

    def _relative(self, place: str) -> str:
        return place.removeprefix(f"{self.root}/")

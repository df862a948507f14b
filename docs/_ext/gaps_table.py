# `{known-gaps}`: the table of all gaps, from their pages; see docs/ship/known-gaps.md.
"""Each line names a page of gaps and what the table calls them.

    ```{known-gaps}
    known-gaps-eager: eager mode
    known-crashes: ends the process
    ```

A gap is a section with a line "Workaround", so the table cannot miss one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from myst_parser.slugs import github_slugify
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
FACT = re.compile(r"^\* \*\*(\w+):\*\* (.+(?:\n  .+)*)", re.MULTILINE)
OPEN = re.compile(r"still open in torch (\d+\.\d+)\.\d+\.")
OWN_LINK = re.compile(r"\]\(#")


@dataclass(frozen=True)
class Gap:
    """One section of a page of gaps."""

    page: str
    kind: str
    title: str
    releases: str
    workaround: str

    @property
    def row(self) -> str:
        """The gap as a row of a table in Markdown."""
        link = f"[{self.title}]({self.page}.md#{github_slugify(self.title)})"
        state = OPEN.sub(r"open in \1", self.releases)
        return f"| {link} | {self.kind} | {state} | {self.workaround} |"


def gaps_of(text: str, page: str, kind: str) -> Iterator[Gap]:
    """The gaps of a page; its links to itself lead there from every page."""
    for title, body in SECTION.findall(text):
        facts = {name: " ".join(words.split()) for name, words in FACT.findall(body)}
        if "Workaround" in facts:
            workaround = OWN_LINK.sub(f"]({page}.md#", facts["Workaround"])
            yield Gap(page, kind, title, facts.get("Releases", ""), workaround)


def table(gaps: list[Gap]) -> str:
    """Return the table in Markdown."""
    head = "| gap | kind | releases | workaround |\n|---|---|---|---|\n"
    return head + "\n".join(gap.row for gap in gaps)


class KnownGaps(SphinxDirective):
    """``{known-gaps}`` with a line for each page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Insert the table of the gaps that the pages have now."""
        gaps: list[Gap] = []
        for line in self.content:
            page, _, kind = line.partition(": ")
            _, path = self.env.relfn2path(f"{page}.md")
            self.env.note_dependency(path)
            found = list(gaps_of(Path(path).read_text("utf-8"), page, kind))
            if not found:
                raise ExtensionError(f"{page}.md has no section with a workaround")
            gaps += found
        parsed = self.parse_text_to_nodes(table(gaps))
        for node in parsed:
            node["classes"].append("filterable")
        return parsed


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("known-gaps", KnownGaps)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

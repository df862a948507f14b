"""Directives that would let untested code or text past the contract.

Explained in CONTRIBUTING.md, "Writing a chapter". They keep their names, so that the
refusal can say what to write instead.
"""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from snippet_contract.report import problem

TESTED = "Write '>>>' examples in a {doctest} block; the page runner runs all of them."
INSTEAD = {
    "testcode": TESTED,
    "testoutput": TESTED,
    "testsetup": TESTED,
    "testcleanup": TESTED,
    "include": "Examples of an included page are never run. Link to the page, or"
    " show source code with {literalinclude}.",
}


class Refused(SphinxDirective):
    """Reports itself and shows nothing."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    # Any option is as good as another here.
    option_spec: ClassVar[OptionSpec] = defaultdict(
        lambda: directives.unchanged, name=directives.unchanged
    )

    def run(self) -> list[nodes.Node]:
        text = f"{{{self.name}}} is not allowed. {INSTEAD[self.name]}"
        problem("directive", text, (self.env.docname, self.lineno))
        return [nodes.comment()]


def setup(app: Sphinx) -> None:
    for name in INSTEAD:
        app.add_directive(name, Refused, override=True)

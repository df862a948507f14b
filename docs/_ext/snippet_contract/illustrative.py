"""`{illustrative}`: code that nothing runs, with its reason in the open.

Explained in CONTRIBUTING.md, "Writing a chapter". The author writes

    ```{illustrative} cpp
    :reason: needs a vendor's compiler
    vendorStream_t stream = vendorCreateStream();
    ```

and the page says "Not run: needs a vendor's compiler" above the code.
"""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from snippet_contract.header import labeled
from snippet_contract.report import check_width, problem


class Illustrative(SphinxDirective):
    """A literal block below its visible label."""

    has_content = True
    optional_arguments = 1
    option_spec: ClassVar[OptionSpec] = {"reason": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        location = (self.env.docname, self.lineno)
        reason = " ".join((self.options.get("reason") or "").split())
        if not reason:
            problem(
                "illustrative",
                "say why this code is not run: ':reason: <why>', in a sentence that a"
                " reader understands",
                location,
            )
        if not self.arguments:
            problem(
                "illustrative",
                "name the language: ```{illustrative} cpp",
                location,
            )
        text = "\n".join(self.content)
        if not text.strip():
            problem("illustrative", "this block is empty", location)
        check_width(text, location)
        language = self.arguments[0] if self.arguments else "text"
        block = nodes.literal_block(text, text, language=language)
        block["contract"] = "illustrative"
        self.set_source_info(block)
        node = labeled(block, f"Not run: {reason}")
        self.set_source_info(node)
        return [node]


def setup(app: Sphinx) -> None:
    app.add_directive("illustrative", Illustrative)

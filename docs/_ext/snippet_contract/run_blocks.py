"""`{doctest}` and `{transcript}`: the two blocks that the page runner executes.

Explained in CONTRIBUTING.md, "Writing a chapter". The author writes

    ```{doctest}                      ```{transcript}
    >>> torch.ones(2).sum()           $ python -c 'print(1)'
    tensor(2.)                        1
    ```                               ```

These directives only check and render; `docs/_ext/run_pages.py` runs the examples of a
page in one process and the commands in bash, and compares what they print.
"""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from snippet_contract.examples import Problem, parse_examples
from snippet_contract.report import check_width, problem
from snippet_contract.transcripts import parse_transcript

DOCTEST_OPTIONS = ("skipif", "hide", "options", "pyversion", "no-trim-doctest-flags")


class RunBlock(SphinxDirective):
    """A literal block that carries the mark of having been run."""

    rule: ClassVar[str]
    language: ClassVar[str]
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        location = (self.env.docname, self.lineno)
        for option in self.options:
            problem(
                self.rule,
                f"{{{self.name}}} takes no :{option}:, every block is shown and run.",
                location,
            )
        if self.arguments:
            problem(
                self.rule,
                f"{{{self.name}}} takes nothing on its first line, because all blocks"
                f" of a page share one namespace: {self.arguments[0]!r}",
                location,
            )
        first = self.lineno + 1 + self.content_offset
        for line, text in self.problems("\n".join(self.content) + "\n", first):
            problem(self.rule, text, (self.env.docname, line))
        text = self.shown("\n".join(self.content))
        check_width(text, location)
        block = nodes.literal_block(text, text, language=self.language)
        block["contract"] = self.rule
        block["classes"].append(f"contract-{self.rule}")
        self.set_source_info(block)
        return [block]

    def problems(self, body: str, line: int) -> list[Problem]:
        raise NotImplementedError

    def shown(self, body: str) -> str:
        return body


class Doctest(RunBlock):
    """Examples of a Python session."""

    rule = "doctest"
    language = "pycon"
    option_spec: ClassVar[OptionSpec] = dict.fromkeys(
        DOCTEST_OPTIONS, directives.unchanged
    )

    def problems(self, body: str, line: int) -> list[Problem]:
        return parse_examples(body, line)[1]

    def shown(self, body: str) -> str:
        lines = body.splitlines()
        return "\n".join("" if line == "<BLANKLINE>" else line for line in lines)


class Transcript(RunBlock):
    """Commands of a shell session and their output."""

    rule = "transcript"
    language = "console"
    option_spec: ClassVar[OptionSpec] = dict.fromkeys(
        ["skip", "hide", "timeout"], directives.unchanged
    )

    def problems(self, body: str, line: int) -> list[Problem]:
        return parse_transcript(body, line)[1]


def setup(app: Sphinx) -> None:
    app.add_directive("doctest", Doctest, override=True)
    app.add_directive("transcript", Transcript, override=True)

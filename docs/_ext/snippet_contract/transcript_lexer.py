"""Colors a transcript with the rules by which its commands are found and run.

Explained in CONTRIBUTING.md, "Writing a chapter". Pygments' own `console` lexer takes
"> " lines for output, unless the line above ends with a backslash, so a command in
quotes over several lines is torn apart and Sphinx warns. See `transcripts.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pygments.lexer import Lexer, do_insertions
from pygments.lexers.shell import BashLexer
from pygments.token import Generic
from sphinx.application import Sphinx

Token = tuple[int, object, str]


class TranscriptLexer(Lexer):
    """Commands behind "$ ", continued behind "> "; everything else is output."""

    name = "Transcript"
    aliases = ("console",)

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        start = position = 0
        command = ""
        prompts: list[tuple[int, list[Token]]] = []
        for line in text.splitlines(keepends=True):
            width = _prompt_width(line, continues=bool(prompts))
            if prompts and (not width or line[0] == "$"):
                yield from self._command(start, command, prompts)
                command, prompts = "", []
            if width:
                start = start if prompts else position
                prompt = (0, Generic.Prompt, line[:width])
                prompts.append((len(command), [prompt]))
                command += line[width:]
            else:
                yield position, Generic.Output, line
            position += len(line)
        yield from self._command(start, command, prompts)

    def _command(
        self, start: int, command: str, prompts: list[tuple[int, list[Token]]]
    ) -> Iterator[Token]:
        tokens = BashLexer(**self.options).get_tokens_unprocessed(command)
        for position, kind, text in do_insertions(prompts, tokens):
            yield start + position, kind, text


def _prompt_width(line: str, *, continues: bool) -> int:
    """How many characters of the line are its prompt; none in a line of output."""
    if line.startswith("$ ") or (continues and line.startswith("> ")):
        return 2
    return 1 if continues and line.rstrip("\n") == ">" else 0


def setup(app: Sphinx) -> None:
    app.add_lexer("console", TranscriptLexer)

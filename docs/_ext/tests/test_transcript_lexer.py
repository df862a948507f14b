"""A transcript is colored as it is run: what is input, what is output.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import pytest
from pygments.token import Generic
from small_guide import Project
from snippet_contract.transcript_lexer import TranscriptLexer
from snippet_contract.transcripts import parse_transcript

OVER_LINES = "$ python3 -c '\n> print(1)\n>\n> print(2)'\n1\n2\n"
TEXTS = [
    OVER_LINES,
    "$ echo one\none\n$ echo two\ntwo\n",
    "$ true\n$ echo '$ one'\n$ one\n",
    "$ echo a \\\n> b\na b\n> only output\n# no prompt\n(1, 2)\n",
    "$ cat > x.cpp <<'END'\n> int a;\n> END\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_colours_as_input_what_is_run(text: str) -> None:
    tokens = list(TranscriptLexer().get_tokens_unprocessed(text))
    assert "".join(value for _, _, value in tokens) == text
    for position, _, value in tokens:
        assert text[position : position + len(value)] == value
    marked = (Generic.Prompt, Generic.Output)
    typed = "".join(value for _, kind, value in tokens if kind not in marked)
    shown = "".join(value for _, kind, value in tokens if kind is Generic.Output)
    commands = parse_transcript(text, 1)[0]
    assert typed.splitlines() == "\n".join(it.source for it in commands).splitlines()
    assert shown.splitlines() == [line for it in commands for line in it.want]


def test_a_command_in_quotes_over_lines_builds_without_a_warning(
    project: Project,
) -> None:
    project.page(f"```{{transcript}}\n{OVER_LINES}```\n")
    assert project.build("html") == []
    html = (project.out / "index.html").read_text(encoding="utf-8")
    assert '<span class="gp">&gt; </span><span class="s1">print(1)</span>' in html
    assert '<span class="go">2</span>' in html

"""One planted fault for every rule about what a page may contain.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import pytest
from small_guide import Project

WIDE = "x" * 89


def only_warning(project: Project, *blocks: str) -> tuple[str, str, str]:
    project.page(*blocks)
    [warned] = project.build()
    return warned


@pytest.mark.parametrize(
    "language",
    ["python", "cpp", "c", "cmake", "console", "bash", "shell", "pycon", "toml", ""],
)
def test_refuses_bare_fence(project: Project, language: str) -> None:
    rule, place, text = only_warning(project, f"```{language}\nx\n```\n")
    assert (rule, place) == ("contract.bare", "docs/index.md:3")
    assert f"a bare block of {language or 'none'!r}" in text


@pytest.mark.parametrize(
    "block",
    [
        "```{code-block} python\nx = 1\n```\n",
        "```{code} python\nx = 1\n```\n",
        "```{parsed-literal}\nx = 1\n```\n",
        "Prose:\n\n    x = 1\n",
        ":::{tip}\n```python\nx = 1\n```\n:::\n",
    ],
    ids=["code-block", "code", "parsed-literal", "indented", "nested"],
)
def test_refuses_bare_code_in_other_clothes(project: Project, block: str) -> None:
    assert only_warning(project, block)[0] == "contract.bare"


CHANGE = "--- a/code/new.py\n+++ b/code/new.py\n x = 1\n-y = 1\n+y = 2\n"


def change(project: Project, text: str) -> list[tuple[str, str]]:
    """The rule and the text of each warning about a diff, in a small repository."""
    project.write("code/new.py", "# What it is for.\nx = 1\ny = 2\n")
    project.page(f"```diff\n{text}```\n")
    return [(warned.rule, warned.text) for warned in project.build()]


def test_accepts_a_diff_of_a_file(project: Project) -> None:
    assert change(project, CHANGE) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("+y = 2", "+y = 3", "not in code/new.py: 'y = 3'"),
        (" x = 1", " x = 2", "not in code/new.py: 'x = 2'"),
        ("-y = 1", "-y = 2", "still in code/new.py: 'y = 2'"),
        (" x = 1", "x = 1", "begin this line with '+', '-' or a blank"),
        ("+++ b/code/new.py\n", "", "name the file before its lines"),
        ("+++ b/code/new.py", "+++ b/code/gone.py", "code/gone.py is not a file"),
        ("+++ b/code/new.py", "+++ b/../x.py", "../x.py is not a file"),
        (" x = 1\n", " x = 1\n" * 9, "this diff has 13 lines, at most 12"),
    ],
)
def test_refuses_a_diff_that_is_not_true(
    project: Project, old: str, new: str, fault: str
) -> None:
    [(rule, text)] = change(project, CHANGE.replace(old, new))
    assert rule == "contract.diff"
    assert fault in text


def test_refuses_command_in_text(project: Project) -> None:
    rule, place, text = only_warning(project, "```text\n$ make\n```\n")
    assert (rule, place) == ("contract.bare", "docs/index.md:3")
    assert "Use {transcript}" in text


@pytest.mark.parametrize(
    "block",
    [
        "```text\n>>> 1 + 1\n2\n```\n",
        "In prose, `>>> 1 + 1` gives 2.\n",
        "```{illustrative} pycon\n:reason: no time\n>>> 1 + 1\n2\n```\n",
        "```{transcript}\n$ echo '>>> 1'\n>>> 1\n```\n",
        "> > > >>> 1 + 1\n",
    ],
    ids=["text", "prose", "illustrative", "transcript", "quote"],
)
def test_refuses_prompt_that_never_runs(project: Project, block: str) -> None:
    project.page(block)
    warned = project.build()
    assert {w.rule for w in warned} == {"contract.prompt"}
    assert "'>>>' outside a {doctest} block" in warned[0].text


def test_shift_operators_are_no_prompts(project: Project) -> None:
    project.page("Type `std::vector<std::vector<std::pair<int, int>>>` is long.\n")
    assert project.build() == []


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("```text\nx\n", 3),
        (":::{tip}\nText.\n", 3),
        ("::::{tip}\n:::{note}\nText.\n::::\n", 4),
        ("- item\n\n  ```text\n  x\n\nprose\n", 5),
    ],
    ids=["backticks", "colons", "inner", "list"],
)
def test_refuses_unclosed_fence(project: Project, block: str, line: int) -> None:
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.fence", f"docs/index.md:{line}")
    assert "is never closed" in text


def test_refuses_colons_without_directive(project: Project) -> None:
    rule, place, text = only_warning(project, ":::\nText.\n:::\n")
    assert (rule, place) == ("contract.fence", "docs/index.md:3")
    assert "without a directive" in text


def test_equal_colons_inside_and_outside_are_refused(project: Project) -> None:
    project.page(":::{tip}\n:::{note}\nText.\n:::\n:::\n")
    assert {w.rule for w in project.build()} == {"contract.fence"}


def test_refuses_unknown_directive(project: Project) -> None:
    rule, place, text = only_warning(project, "```{docktest}\nx\n```\n")
    assert (rule, place) == ("myst.directive_unknown", "docs/index.md:3")
    assert "docktest" in text


@pytest.mark.parametrize("name", ["testcode", "testoutput", "testsetup", "testcleanup"])
def test_refuses_untested_directive(project: Project, name: str) -> None:
    block = f"```{{{name}}}\n:hide:\nx = 1\n```\n"
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.directive", "docs/index.md:3")
    assert f"{{{name}}} is not allowed" in text


def test_refuses_include(project: Project) -> None:
    project.write("other.md", "```{doctest}\n>>> 1\n2\n```\n")
    rule, _, text = only_warning(project, "```{include} ../other.md\n```\n")
    assert rule == "contract.directive"
    assert "{include} is not allowed" in text


def test_refuses_eval_rst(project: Project) -> None:
    block = "```{eval-rst}\n.. note:: text\n```\n"
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.directive", "docs/index.md:3")
    assert "{eval-rst} is not allowed" in text


@pytest.mark.parametrize(
    "block",
    [
        "![](square.svg)\n",
        "```{image} square.svg\n```\n",
        "```{figure} square.svg\nCaption.\n```\n",
        "```{raw} html\n<svg><path d=''/></svg>\n```\n",
        "```{raw} html\n<img src='square.svg' alt=''>\n```\n",
        "<img src='square.svg'>\n",
    ],
    ids=["markdown", "image", "figure", "svg", "raw-img", "html-img"],
)
def test_refuses_picture_without_text(project: Project, block: str) -> None:
    project.write("docs/square.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.alt", "docs/index.md:3")
    assert "Write what it shows" in text


@pytest.mark.parametrize(
    "block",
    [
        "```{raw} html\n<pre>x = 1</pre>\n```\n",
        "<div><code>x = 1</code></div>\n",
    ],
)
def test_refuses_code_in_html(project: Project, block: str) -> None:
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.html", "docs/index.md:3")
    assert "nothing checks this code" in text


@pytest.mark.parametrize("option", ["skipif", "hide", "options", "pyversion"])
def test_refuses_doctest_option(project: Project, option: str) -> None:
    block = f"```{{doctest}}\n:{option}: +SKIP\n>>> 1\n1\n```\n"
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.doctest", "docs/index.md:3")
    assert f"takes no :{option}:" in text


@pytest.mark.parametrize(
    ("block", "line", "text"),
    [
        (">>> 1  # doctest: +SKIP\n", 4, "no '# doctest:' flags"),
        (">>> 1  # doctest: +IGNORE_EXCEPTION_DETAIL\n1\n", 4, "no '# doctest:' flags"),
        (">>> 1\n1\n\n2\n", 7, "'2' is neither an example nor its output"),
        ("prose\n", 4, "'prose' is neither an example nor its output"),
        (">>> # comment\n3\n", 5, "'3' is neither an example nor its output"),
        (">>>1\n", 4, "doctest cannot read this block"),
        (">>>\n", 4, "this block has no '>>>' example"),
    ],
    ids=["skip", "detail", "output", "prose", "comment", "blank", "none"],
)
def test_refuses_example(project: Project, block: str, line: int, text: str) -> None:
    rule, place, message = only_warning(project, f"```{{doctest}}\n{block}```\n")
    assert (rule, place) == ("contract.doctest", f"docs/index.md:{line}")
    assert text in message


def test_refuses_doctest_group(project: Project) -> None:
    rule, _, text = only_warning(project, "```{doctest} group\n>>> 1\n1\n```\n")
    assert rule == "contract.doctest"
    assert "takes nothing on its first line" in text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("output\n$ echo 1\n1\n", "starts with a command"),
        ("", "has no '$ ' command"),
        (":skip:\n$ echo 1\n1\n", "takes no :skip:"),
        ("$ no-such-command\n...\n", "its output is only '...'"),
        ("$ pip install $OPENREG_REPOSITORY/openreg\n", "this builds in the clone"),
    ],
)
def test_refuses_transcript(project: Project, body: str, text: str) -> None:
    rule, _, message = only_warning(project, f"```{{transcript}}\n{body}```\n")
    assert rule == "contract.transcript"
    assert text in message


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ("```{illustrative} cpp\nf();\n```\n", "say why this code is not run"),
        ("```{illustrative} cpp\n:reason:\nf();\n```\n", "say why"),
        ("```{illustrative}\n:reason: no time\nf();\n```\n", "name the language"),
        ("```{illustrative} cpp\n:reason: no time\n```\n", "is empty"),
    ],
    ids=["absent", "empty", "language", "body"],
)
def test_refuses_illustration(project: Project, block: str, text: str) -> None:
    rule, place, message = only_warning(project, block)
    assert (rule, place) == ("contract.illustrative", "docs/index.md:3")
    assert text in message


@pytest.mark.parametrize(
    "block",
    [
        f"```text\n{WIDE}\n```\n",
        f"```{{illustrative}} cpp\n:reason: no time\n{WIDE}\n```\n",
        f"```{{doctest}}\n>>> x = '{WIDE}'\n```\n",
        f"```{{transcript}}\n$ echo {WIDE} > note.txt\n```\n",
    ],
    ids=["text", "illustrative", "doctest", "transcript"],
)
def test_refuses_wide_line(project: Project, block: str) -> None:
    rule, place, text = only_warning(project, block)
    assert (rule, place) == ("contract.width", "docs/index.md:3")
    assert "at most 88 fit" in text


def test_refuses_page_that_is_never_run(project: Project) -> None:
    project.write("docs/_drafts/page.md", "---\norphan: true\n---\n# Page\n")
    [warned] = project.build()
    assert warned[:2] == ("contract.page", "docs/_drafts/page.md:1")
    assert "the page runner does not run this page" in warned.text


def test_refuses_block_that_the_runner_does_not_find(project: Project) -> None:
    project.conf += "myst_substitutions = {'x': '```{doctest}\\n>>> 1\\n1\\n```'}\n"
    rule, place, text = only_warning(project, "{{ x }}\n")
    assert (rule, place) == ("contract.blocks", "docs/index.md:1")
    assert "shows 1 {doctest} blocks, but the page runner finds 0" in text

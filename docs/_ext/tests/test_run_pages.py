"""One planted fault for everything that must make a run of the pages fail.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from run_pages import ELSEWHERE, PageResult, main, run_page

SCRIPT = Path(__file__).resolve().parents[1] / "run_pages.py"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


def run(docs: Path, text: str, timeout: float = 30.0) -> PageResult:
    page = docs / "page.md"
    page.write_text(text)
    return run_page(page, "docs/page.md", timeout)


def doctest_block(*lines: str) -> str:
    return "\n".join(["```{doctest}", *lines, "```", ""])


def transcript_block(*lines: str) -> str:
    return "\n".join(["```{transcript}", *lines, "```", ""])


def test_examples_of_a_page_share_a_namespace(docs: Path) -> None:
    text = doctest_block(">>> x = 1") + doctest_block(">>> x + 1", "2")
    result = run(docs, text)
    assert (result.ok, result.written, result.run) == (True, 2, 2)


def test_function_of_a_longer_earlier_block_may_raise(docs: Path) -> None:
    text = doctest_block(
        ">>> import inspect", ">>> def fail():", "...     raise ValueError", ">>> x = 1"
    )
    text += doctest_block(
        ">>> fail()", "Traceback (most recent call last):", "ValueError"
    )
    text += doctest_block(">>> len(inspect.getsource(fail).splitlines())", "2")
    assert run(docs, text).problems == []


def test_pages_find_the_files_of_the_repository(docs: Path) -> None:
    text = transcript_block(
        "$ ls", '$ ls "$OPENREG_REPOSITORY"/docs/_ext/run_pages.py', ".../run_pages.py"
    )
    assert run(docs, text).ok


def test_blocks_inside_other_blocks_run(docs: Path) -> None:
    result = run(
        docs,
        """# Title

:::::{grid} 2
::::{grid-item-card} Card
:::{tip}
```{doctest}
>>> 1
1
```
:::
::::
:::::

::::{tab-set}
:::{tab-item} Tab
````{note}
```{doctest}
>>> 2
2
```
````
:::
::::

1. a list

   - in a list

     ```{doctest}
     >>> 3
     3
     ```

> ```{transcript}
> $ echo four
> four
> ```

term
: ```{doctest}
  >>> 5
  5
  ```
""",
    )
    assert result.problems == []
    assert (result.written, result.run, result.commands) == (4, 4, 1)


def test_idle_prompts_are_no_examples(docs: Path) -> None:
    text = doctest_block(">>> 1  # one", "1", ">>>", ">>> # nothing", ">>> 2", "2")
    result = run(docs, text)
    assert (result.problems, result.written, result.run) == ([], 2, 2)


@pytest.mark.parametrize(
    ("lines", "line", "expected", "got"),
    [
        ((">>> 1 + 1", "3"), 2, "3", "2"),
        ((">>> x = 1", ">>> x", "True"), 3, "True", "1"),
        ((">>> 'a  b'", "'a b'"), 2, "'a b'", "'a  b'"),
        ((">>> print('a')",), 2, "(nothing)", "a"),
        ((">>> x = 1", "1"), 2, "1", "(nothing)"),
    ],
    ids=["value", "true-for-1", "spaces", "unpromised", "missing"],
)
def test_wrong_output_fails(
    docs: Path, lines: tuple[str, ...], line: int, expected: str, got: str
) -> None:
    result = run(docs, doctest_block(*lines))
    [text] = result.problems
    assert text.startswith(f"docs/page.md:{line}: this did not print")
    assert text.endswith(f"  expected\n    {expected}\n  got\n    {got}")


def test_exception_detail_is_compared(docs: Path) -> None:
    trace = "Traceback (most recent call last):"
    right = doctest_block(">>> int('x')", trace, "  ...", "ValueError: invalid ...")
    assert run(docs, right).ok
    wrong = right.replace("invalid", "valid")
    [text] = run(docs, wrong).problems
    assert "ValueError: valid ..." in text
    assert "ValueError: invalid literal" in text


def test_unexpected_exception_is_shown(docs: Path) -> None:
    [text] = run(docs, doctest_block(">>> {}['key']", "1")).problems
    assert text.startswith("docs/page.md:2: ")
    assert "KeyError: 'key'" in text


def test_example_outside_a_doctest_block_fails(docs: Path) -> None:
    text = doctest_block(">>> 1", "1") + "```text\n>>> 2\n2\n```\n"
    [problem] = run(docs, text).problems
    assert "2 examples are written in the page, but 1 were run" in problem


def test_output_after_an_empty_line_fails(docs: Path) -> None:
    [problem] = run(docs, doctest_block(">>> 1", "1", "", "2")).problems
    assert problem.startswith("docs/page.md:5: '2' is neither an example nor")


def test_crash_names_page_and_example(docs: Path) -> None:
    text = doctest_block(">>> 1 + 1", "3", ">>> import os", ">>> os.abort()")
    wrong, crash = run(docs, text).problems
    assert wrong.startswith("docs/page.md:2: this did not print")
    assert crash.startswith(
        "docs/page.md:5: the page ended by SIGABRT, while it ran\n    os.abort()"
    )
    assert "\n  docs/ship/known-crashes.md explains this signal\n" in crash
    assert "Fatal Python error: Aborted" in crash


def test_silent_exit_is_no_success(docs: Path) -> None:
    text = doctest_block(">>> import os", ">>> os._exit(0)", ">>> 1", "1")
    [problem] = run(docs, text).problems
    assert problem.startswith("docs/page.md:3: the page ended with status 0, while")


def test_crash_after_the_last_example_fails(docs: Path) -> None:
    text = doctest_block(">>> import atexit, os", ">>> _ = atexit.register(os.abort)")
    [problem] = run(docs, text).problems
    assert "the page ended by SIGABRT after its last example" in problem


def test_endless_example_is_ended(docs: Path) -> None:
    text = doctest_block(">>> import time", ">>> time.sleep(60)")
    [problem] = run(docs, text, timeout=1.0).problems
    assert problem.startswith("docs/page.md:3: the page was still running after 1 s")


def test_one_process_a_page_in_an_empty_folder(docs: Path) -> None:
    text = doctest_block(
        ">>> import os, sys, faulthandler",
        ">>> os.listdir(), sys.argv, sys.path[0], faulthandler.is_enabled()",
        "([], [''], '', True)",
        ">>> class A: pass",
        ">>> import pickle",
        ">>> type(pickle.loads(pickle.dumps(A()))) is A",
        "True",
    )
    assert run(docs, text).problems == []


def test_transcript_runs_this_python_and_merges_errors(docs: Path) -> None:
    text = transcript_block(
        "$ python -c 'import sys; print(sys.prefix); print(1, file=sys.stderr)'",
        sys.prefix,
        "1",
        "$ cat > note.txt <<'END'",
        "> one",
        "> END",
        "$ cat note.txt; false",
        "one",
        "$ echo $?",
        "1",
    )
    text += doctest_block(">>> open('note.txt').read()", "'one\\n'")
    result = run(docs, text)
    assert (result.problems, result.commands, result.run) == ([], 4, 1)


def test_transcript_ellipsis(docs: Path) -> None:
    assert run(docs, transcript_block("$ seq 9", "1", "...", "9")).ok
    assert not run(docs, transcript_block("$ seq 9", "1", "...", "8")).ok


@pytest.mark.parametrize(
    ("lines", "line", "got"),
    [
        (("$ echo one", "two"), 2, "one"),
        (("$ echo one",), 2, "one"),
        (("$ true", "one"), 2, "(nothing)"),
        (("$ no-such-command",), 2, "no-such-command: command not found"),
        (("$ true", "$ exit 3", "$ echo two", "two"), 3, "the shell ended before"),
        (("$ echo 'open",), 2, "the shell ended before"),
    ],
    ids=["value", "unpromised", "missing", "unknown", "exit", "quote"],
)
def test_wrong_transcript_fails(
    docs: Path, lines: tuple[str, ...], line: int, got: str
) -> None:
    [problem] = run(docs, transcript_block(*lines)).problems
    assert problem.startswith(f"docs/page.md:{line}: this did not print")
    assert got in problem.split("  got\n")[1]


def test_endless_command_is_ended(docs: Path) -> None:
    [problem] = run(docs, transcript_block("$ sleep 60"), timeout=1.0).problems
    assert "still running after 1 s" in problem


def test_command_line(docs: Path) -> None:
    """All pages, a summary, JSON, and a status for success or failure."""
    (docs / "start").mkdir()
    (docs / "_drafts").mkdir()
    (docs / "start" / "one.md").write_text(doctest_block(">>> 1", "1"))
    (docs / "two.md").write_text("Prose only.\n")
    (docs / "_drafts" / "three.md").write_text(doctest_block(">>> 1", "2"))
    report = docs.parent / "new" / "out.json"
    command = [sys.executable, str(SCRIPT), "--docs", str(docs), "--json", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 pages: 1 of 1 examples run, 0 commands, 0 pages failed" in done.stdout
    counts = json.loads(report.read_text())
    assert {"torch", "python"} <= counts.keys()
    assert (counts["written"], counts["run"], counts["ok"]) == (1, 1, True)
    assert [page["page"] for page in counts["pages"]] == [
        "docs/start/one.md",
        "docs/two.md",
    ]


def test_pages_of_other_environments_run_only_on_request(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("here.md", "modules/here.md", "modules/triton-it.md", "opencl/it.md"):
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text(doctest_block(">>> 1", "1"))
    assert main(["--docs", str(docs)]) == 0
    assert "2 pages: 2 of 2 examples run" in capsys.readouterr().out
    assert main(["--docs", str(docs), str(docs / "modules/triton-it.md")]) == 0
    assert "1 pages: 1 of 1 examples run" in capsys.readouterr().out


def test_nox_has_a_session_for_the_pages_of_each_environment() -> None:
    sessions = SCRIPT.parents[2] / "tests/nox_support"
    for prefix, session in ELSEWHERE.items():
        text = (sessions / f"{session}.py").read_text()
        assert f'_PAGES = "docs/{prefix}"' in text


def test_one_failed_page_fails_the_run(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (docs / "right.md").write_text(doctest_block(">>> 1", "1"))
    (docs / "wrong.md").write_text(doctest_block(">>> 1", "2"))
    assert main(["--docs", str(docs), "--jobs", "1"]) == 1
    printed = capsys.readouterr().out
    assert "1 pages failed" in printed
    # The last lines are all that is shown of a long run.
    assert printed.index("did not print what") > printed.rindex(" s  ")
    assert main(["--docs", str(docs), str(docs / "right.md")]) == 0


def test_no_example_at_all_fails(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (docs / "index.md").write_text("Prose only.\n")
    assert main(["--docs", str(docs)]) == 1
    assert "a guide without examples proves nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["absent.md"], "no such page: absent.md"),
        (["--docs", "absent"], "no such folder: absent"),
        (["--jobs", "0"], "must be positive"),
        (["--timeout", "-1"], "must be positive"),
    ],
)
def test_bad_arguments_are_told(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert text in capsys.readouterr().err

"""Runs the blocks of one page in this process; `run_pages.py` starts one per page.

Explained in CONTRIBUTING.md, "Writing a chapter". Reads a job (JSON) from the file on
the command line and appends events to `page.events` next to it, one JSON object a line:
what starts, what failed, and at last "done". Events are written before an example runs,
so that a crash can be told with its line.
"""

from __future__ import annotations

import doctest
import json
import linecache
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from snippet_contract.examples import FLAGS, Problem, parse_examples
from snippet_contract.transcripts import (
    Command,
    TranscriptError,
    matches,
    parse_transcript,
    run_transcript,
)


class Events:
    """The file that reports to `run_pages.py` what happened so far."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def start(self, kind: str, line: int, source: str) -> None:
        self._write({"event": kind, "line": line, "source": source})

    def fault(self, line: int, source: str, want: str, got: str) -> None:
        fault = {"line": line, "source": source, "expected": want, "got": got}
        self._write({"event": "fault", **fault})

    def problems(self, problems: list[Problem]) -> None:
        for line, text in problems:
            self.fault(line, "", "", text)

    def done(self) -> None:
        self._write({"event": "done"})

    def _write(self, event: dict[str, Any]) -> None:
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()


class ExampleRunner(doctest.DocTestRunner):
    """Reports starts and failures with the page's lines instead of printing them."""

    def __init__(self, events: Events) -> None:
        super().__init__(optionflags=FLAGS, verbose=False)
        self.events = events

    def report_start(self, out: Any, test: Any, example: doctest.Example) -> None:
        self.events.start("example", example.lineno, example.source)

    def report_failure(
        self, out: Any, test: Any, example: doctest.Example, got: str
    ) -> None:
        self.events.fault(example.lineno, example.source, example.want, got)

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        got = "".join(traceback.format_exception(*exc_info))
        self.events.fault(example.lineno, example.source, example.want, got)


def run_page(job: dict[str, Any], events: Events) -> None:
    """Run the blocks in the order of the page; doctests share one `__main__`."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    runner = ExampleRunner(events)
    for block in job["blocks"]:
        if block["kind"] == "doctest":
            examples, problems = parse_examples(block["body"], block["line"])
            events.problems(problems)
            # Its own name: a traceback may pass a function of an earlier block.
            name = f"{job['page']}:{block['line']}"
            keep_sources(name, examples)
            test = doctest.DocTest(examples, {}, name, job["page"], 0, None)
            test.globs = main.__dict__
            runner.run(test, clear_globs=False)
        else:
            commands, problems = parse_transcript(block["body"], block["line"])
            events.problems(problems)
            if commands:
                run_commands(commands, events, job["timeout"])


def keep_sources(name: str, examples: list[doctest.Example]) -> None:
    """Let later blocks find the source lines, which doctest keeps for one block."""
    for number, example in enumerate(examples):
        lines = example.source.splitlines(keepends=True)
        file = f"<doctest {name}[{number}]>"
        linecache.cache[file] = (len(example.source), None, lines, file)


def run_commands(commands: list[Command], events: Events, timeout: float) -> None:
    for command in commands:
        events.start("command", command.line, f"$ {command.source}")
    unfinished = ""
    try:
        outputs = run_transcript(commands, Path.cwd(), dict(os.environ), timeout)
    except TranscriptError as error:
        outputs, unfinished = error.outputs, f"{error.rest}\n{error}".strip()
    for command, got in zip(commands, outputs, strict=False):
        if not matches(command, got):
            _command_fault(command, got, events)
    if unfinished:
        _command_fault(commands[len(outputs)], unfinished, events)


def _command_fault(command: Command, got: str, events: Events) -> None:
    events.fault(command.line, f"$ {command.source}", "\n".join(command.want), got)


def main() -> None:
    job_file = Path(sys.argv[1])
    job = json.loads(job_file.read_text(encoding="utf-8"))
    # As in an interactive session: modules are found in the folder of the page, not
    # in the folder of this file.
    sys.path[0] = ""
    sys.argv = [""]
    events = Events(job_file.with_name("page.events"))
    run_page(job, events)
    events.done()


if __name__ == "__main__":
    main()

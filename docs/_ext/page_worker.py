"""Runs the blocks of one page in this process; `run_pages.py` starts one per page.

Explained in CONTRIBUTING.md, "Writing a chapter". Reads a job (JSON) from the file on
the command line and writes the result next to it. What runs at the moment is written to
a third file first, so that a crash can be told with its line.
"""

from __future__ import annotations

import doctest
import json
import os
import sys
import time
import traceback
import types
from pathlib import Path
from typing import Any

from snippet_contract.examples import FLAGS, parse_examples
from snippet_contract.transcripts import (
    TranscriptError,
    matches,
    parse_transcript,
    run_transcript,
)


class Progress:
    """The file that says which example or command runs now."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def note(self, line: int, source: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{line} {source.strip().splitlines()[0]}")
        self._file.flush()


class ExampleRunner(doctest.DocTestRunner):
    """Collects failures with the lines of the page instead of printing them."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(optionflags=FLAGS, verbose=False)
        self.progress = progress
        self.count = 0
        self.faults: list[dict[str, Any]] = []

    def report_start(self, out: Any, test: Any, example: doctest.Example) -> None:
        self.count += 1
        self.progress.note(example.lineno, example.source)

    def report_failure(
        self, out: Any, test: Any, example: doctest.Example, got: str
    ) -> None:
        self._fail(example, got or "(nothing)\n")

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        self._fail(example, "".join(traceback.format_exception(*exc_info)))

    def _fail(self, example: doctest.Example, got: str) -> None:
        self.faults.append(
            fault(example.lineno, example.source, example.want or "(nothing)\n", got)
        )


def fault(line: int, source: str, want: str, got: str) -> dict[str, Any]:
    return {"line": line, "source": source, "expected": want, "got": got}


def run_page(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the blocks in the order of the page; doctests share one `__main__`."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    runner = ExampleRunner(progress)
    faults = runner.faults
    commands = 0
    for block in job["blocks"]:
        if block["kind"] == "doctest":
            examples, problems = parse_examples(block["body"], block["line"])
            test = doctest.DocTest(examples, {}, job["page"], job["page"], 0, None)
            test.globs = main.__dict__
            runner.run(test, clear_globs=False)
        else:
            listed, problems = parse_transcript(block["body"], block["line"])
            commands += len(listed)
            if listed:
                faults += run_commands(listed, progress, job["timeout"])
        faults += [fault(p.line, "", "", p.text) for p in problems]
    return {"run": runner.count, "commands": commands, "faults": faults}


def run_commands(
    commands: list[Any], progress: Progress, timeout: float
) -> list[dict[str, Any]]:
    progress.note(commands[0].line, f"$ {commands[0].source}")
    try:
        outputs = run_transcript(commands, Path.cwd(), dict(os.environ), timeout)
    except TranscriptError as error:
        got = f"{error.output}\n{error}"
        return [_command_fault(error.command, got)]
    return [
        _command_fault(command, got)
        for command, got in zip(commands, outputs, strict=True)
        if not matches(command, got)
    ]


def _command_fault(command: Any, got: str) -> dict[str, Any]:
    want = "\n".join(command.want).rstrip() or "(nothing)"
    return fault(command.line, f"$ {command.source}", want, got.strip() or "(nothing)")


def main() -> None:
    job_file = Path(sys.argv[1])
    job = json.loads(job_file.read_text(encoding="utf-8"))
    # As in an interactive session: modules are found in the folder of the page, not
    # in the folder of this file.
    sys.path[0] = ""
    sys.argv = [""]
    started = time.perf_counter()
    result = run_page(job, Progress(job_file.with_suffix(".progress")))
    result["seconds"] = round(time.perf_counter() - started, 3)
    job_file.with_suffix(".result").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()

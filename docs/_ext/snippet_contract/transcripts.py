"""Reads a console transcript and runs its commands in bash.

Explained in CONTRIBUTING.md, "Writing a chapter". A line that starts with "$ " is a
command, lines right after it that start with "> " continue it, all others up to the
next command are its output (stderr included). Needs only the standard library.
"""

from __future__ import annotations

import doctest
import os
import secrets
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from snippet_contract.examples import Problem

TIMEOUT = 300.0


@dataclass
class Command:
    """One command of a transcript and the output the page promises."""

    line: int
    source: str
    want: list[str] = field(default_factory=list)


class TranscriptError(Exception):
    """The shell did not come to the end of the transcript."""

    def __init__(self, reason: str, outputs: list[str], rest: str) -> None:
        super().__init__(reason)
        self.outputs = outputs  # of the commands that were done
        self.rest = rest  # what the next one printed


def parse_transcript(body: str, line: int) -> tuple[list[Command], list[Problem]]:
    """Commands of a block whose first line is `line` of the page."""
    commands: list[Command] = []
    problems: list[Problem] = []
    continues = False
    for number, text in enumerate(body.splitlines(), line):
        if text.startswith("$ ") and text[2:].strip():
            commands.append(Command(number, text[2:]))
            continues = True
        elif continues and (text.startswith("> ") or text == ">"):
            commands[-1].source += "\n" + text[2:]
        elif commands:
            commands[-1].want.append(text)
            continues = False
        elif text.strip():
            problems.append(
                Problem(number, "a transcript starts with a command: '$ ' and its text")
            )
            break
    problems += [
        Problem(
            command.line,
            "its output is only '...', which any error would match too. Promise at"
            " least one line of it.",
        )
        for command in commands
        if "".join(command.want).strip() == "..."
    ]
    problems += [
        Problem(
            command.line,
            "this builds in the clone, which all pages share, and leaves files there."
            " Copy the folder first.",
        )
        for command in commands
        if "pip install" in command.source and "$OPENREG_REPOSITORY" in command.source
    ]
    if not commands and not problems:
        problems.append(Problem(line, "this transcript has no '$ ' command"))
    return commands, problems


def matches(command: Command, got: str) -> bool:
    """Whether the output is the promised one; '...' stands for anything."""
    want = _tidy("\n".join(command.want))
    return doctest.OutputChecker().check_output(want, _tidy(got), doctest.ELLIPSIS)


def run_transcript(
    commands: list[Command], cwd: Path, env: dict[str, str], timeout: float = TIMEOUT
) -> list[str]:
    """Output of every command, all run by one bash, so that `cd` and `$?` carry on."""
    end = f"--- end of command {secrets.token_hex(8)}"
    # `return` hands the status of the command on, so that `echo $?` still sees it.
    script = f"_end() {{ local s=$?; printf '\\n%s\\n' '{end}'; return $s; }}\n"
    script += "".join(f"{command.source}\n_end\n" for command in commands)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "transcript")
        file.write_text(script, encoding="utf-8")
        output, reason = _run_bash(file, cwd, env, timeout)
    parts = output.split(f"\n{end}\n")
    if len(parts) <= len(commands):
        reason = reason or (
            "the shell ended before the command did: is a quote or a heredoc left"
            " open, or does it call `exit`?"
        )
        raise TranscriptError(reason, parts[:-1], parts[-1])
    return parts[: len(commands)]


def _run_bash(
    file: Path, cwd: Path, env: dict[str, str], timeout: float
) -> tuple[str, str]:
    process = subprocess.Popen(
        ["bash", "--noprofile", "--norc", str(file)],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=timeout)[0], ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0]
        return output, f"it was still running after {timeout:g} s and was stopped"


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "\n".join(lines) + "\n" if lines else ""

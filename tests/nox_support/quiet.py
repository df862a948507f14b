# What a newcomer sees of `nox -s docs`; see CONTRIBUTING.md.
"""Keeps in a file what commands print, and shows how far the one that runs is."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import nox
from nox.command import CommandFailed

LINES = 60  # that are shown of a command that failed
_log: Path | None = None


@contextlib.contextmanager
def quietly(session: nox.Session, path: Path) -> Iterator[None]:
    """Write to a new file what the commands print that run until the end."""
    global _log
    session.env["PYTHONUNBUFFERED"] = "1"  # else the last line is an old one
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    _log = path
    try:
        yield
    finally:
        _log = None


@contextlib.contextmanager
def printing(
    session: nox.Session, *command: str, silent: bool = False
) -> Iterator[dict[str, Any]]:
    """Give the options of session.run() that send what a command prints to the file.

    They are empty where there is no file, or where the caller reads what is printed
    (`silent`). If the command fails, its last lines are shown, and the file's name.
    """
    if _log is None or silent:
        yield {}
        return
    with _log.open("a", encoding="utf-8") as file:
        print("$", *command, file=file, flush=True)
        start = file.tell()
        try:
            with progress(_log):
                yield {"stdout": file, "log": False}
        except CommandFailed:
            session.warn(_explain(_log, start))
            raise


@contextlib.contextmanager
def progress(log: Path, terminal: TextIO | None = None) -> Iterator[None]:
    """Show the time and the last line of a file on a terminal, until the end."""
    terminal = terminal or sys.stderr
    if not terminal.isatty():
        yield
        return
    ended, start = threading.Event(), time.monotonic()

    def show() -> None:
        while not ended.wait(0.5):
            line = f"{time.monotonic() - start:5.0f} s  {last_line(log)}"
            width = shutil.get_terminal_size().columns - 1
            terminal.write(f"\r\033[K{line[:width]}")
            terminal.flush()
        terminal.write("\r\033[K")
        terminal.flush()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def last_line(log: Path) -> str:
    """Return the last line of a file that is not empty, without what moves a cursor."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        text = file.read().decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "".join(filter(str.isprintable, lines[-1])) if lines else ""


def _explain(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode(errors="replace").splitlines()
    end = "\n".join(lines[-LINES:])
    return f"this command failed. All that ran is in {log}; it printed last:\n{end}"

"""Tests of what `nox -s docs` shows of its commands, and of what its file keeps."""

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nox_support import quiet
from patience import PATIENCE

TESTS = Path(__file__).resolve().parent
# No path has "<one>" in it: nox shows commands, and a folder may be called "clone".
NOXFILE = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(TESTS)!r})
import nox
from nox_support.environments import run
from nox_support.quiet import quietly

LOG = Path("logs/session.log")

def python(session, program, **options):
    return run(session, Path("bin"), sys.executable, "-c", program, **options)

@nox.session(venv_backend="none")
def passes(session):
    with quietly(session, LOG):
        python(session, "print('<one>')")
        python(session, "import sys; print('<two>', file=sys.stderr)")
        assert python(session, "print('three')", silent=True) == "three\\n"
    python(session, "print('four')")

@nox.session(venv_backend="none")
def fails(session):
    with quietly(session, LOG):
        python(session, "print('<one>')")
        python(session, "for i in range(100): print('line', i)\\nraise SystemExit(3)")

@nox.session(venv_backend="none")
def ends(session):
    with quietly(session, LOG):
        python(session, "import os; print('before', flush=True); os.abort()")
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def session(tmp_path):
    """Run a session of NOXFILE; return its process, its lines, and its file."""
    (tmp_path / "noxfile.py").write_text(NOXFILE)

    def start(name):
        command = [sys.executable, "-m", "nox", "--no-color", "-s", name]
        process = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
        )
        shown = process.stdout + process.stderr
        return process.returncode, shown, (tmp_path / "logs/session.log").read_text()

    return start


def test_what_commands_print_goes_to_the_file(session):
    status, shown, kept = session("passes")
    assert status == 0, shown
    assert "<one>" not in shown and "<two>" not in shown
    assert "four" in shown and "four" not in kept
    lines = [line for line in kept.splitlines() if not line.startswith("$")]
    assert lines == ["<one>", "<two>"]
    assert kept.startswith("$ ") and kept.count("\n$ ") == 1


def test_a_command_that_fails_shows_its_last_lines_and_the_file(session):
    status, shown, kept = session("fails")
    assert status == 1
    assert "All that ran is in logs/session.log" in shown
    assert "line 99" in shown and "line 40\n" in shown
    assert "line 39\n" not in shown and "<one>" not in shown
    assert "line 0\n" in kept and "<one>\n" in kept


def test_a_command_that_a_signal_ends_is_explained_too(session):
    status, shown, _ = session("ends")
    assert status == 1
    assert "before" in shown and "SIGABRT" in shown


def test_a_terminal_shows_the_last_line_and_is_left_empty(tmp_path):
    log, terminal = tmp_path / "log", Terminal()
    log.write_text("[1/2] one\n\n[2/2] \033[1mtwo\n\n")
    with quiet.progress(log, terminal):
        end = time.monotonic() + PATIENCE
        while "two" not in terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.05)
    shown = terminal.getvalue()
    assert "s  [2/2] [1mtwo" in shown and "one" not in shown
    assert shown.endswith("\r\033[K")


def test_without_a_terminal_nothing_is_shown(tmp_path):
    (tmp_path / "log").write_text("one\n")
    output = io.StringIO()
    with quiet.progress(tmp_path / "log", output):
        time.sleep(0.6)
    assert output.getvalue() == ""


def test_the_last_line_of_nothing(tmp_path):
    (tmp_path / "log").write_text("\n \n")
    assert quiet.last_line(tmp_path / "log") == ""

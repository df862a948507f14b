# Runs what may fail, block or crash in another process; see docs/ship/diagnose.md.
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from torch_openreg_diagnose._probe import MARK

SECONDS = 120.0  # that loading may take, on a slow disk and with many devices


# LITERALINCLUDE START: DIAGNOSE_PROBE
def run_probe(seconds: float = SECONDS) -> dict[str, Any]:
    """Load torch and the backend in another process, and return what that found."""
    probe = str(Path(__file__).with_name("_probe.py"))
    # By its path: -m finds this package only where the current sys.path is inherited.
    program = f"import runpy; runpy.run_path({probe!r}, run_name='__main__')"
    command = [sys.executable, *_path_options(), "-c", program]
    try:
        process = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # libraries print anything
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        error = f"the process does not end after {seconds:g} s"
        return {"loaded": False, "hung": True, "error": error}
    for line in process.stdout.splitlines():
        if line.startswith(MARK):
            found: dict[str, Any] = json.loads(line.removeprefix(MARK))
            return found
    code = process.returncode
    died = f"the process ended with {signal_name(-code)}" if code < 0 else ""
    error = died or (process.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return {"loaded": False, "error": error}


# LITERALINCLUDE END: DIAGNOSE_PROBE
def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _path_options() -> list[str]:
    """Return the options of this Python that decide where it finds packages."""
    flags = sys.flags
    options = {
        "-E": flags.ignore_environment,
        "-I": flags.isolated,
        "-P": flags.safe_path,
        "-S": flags.no_site,
        "-s": flags.no_user_site,
    }
    return [option for option, given in options.items() if given]

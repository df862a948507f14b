# Keeps the counts of the last recorded run; see docs/reference/operator-coverage.md.
"""The guide shows these counts, and docs/_ext/operator_coverage.py reads the file."""

import datetime
import json
import subprocess
from pathlib import Path

import torch

from .cases import Verdict, all_cases, more_cases
from .table import counts

LAST_RUN = Path(__file__).with_suffix(".json")


def current_commit() -> str:
    """Return the commit of these sources."""
    command = ["git", "-C", str(LAST_RUN.parent), "describe", "--always"]
    options = ["--abbrev=12", "--dirty", "--exclude=*"]
    return subprocess.run(
        [*command, *options], capture_output=True, text=True, check=True
    ).stdout.strip()


def record(verdicts: list[Verdict], commit: str, *, full: bool) -> None:
    """Write how many verdicts of each kind there were.

    Args:
        commit: the one of the sources when the run began.
        full: all samples ran, and not a few of each case.
    """
    rows = counts(verdicts)
    dtypes = {case.dtype for case in [*all_cases(), *more_cases()]}
    found = {
        "torch": torch.__version__.split("+")[0],
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "full": full,
        "samples": sum(verdict.samples for verdict in verdicts),
        "left out": sorted(dtypes - {dtype for dtype, _ in rows}),
    }
    lines = [json.dumps([dtype, way, dict(row)]) for (dtype, way), row in rows.items()]
    head = json.dumps(found, indent=1).removesuffix("\n}")
    LAST_RUN.write_text(f'{head},\n "counts": [\n' + ",\n".join(lines) + "\n]}\n")


def pairs() -> set[tuple[str, str]]:
    """Return each dtype and way in the file."""
    counts = json.loads(LAST_RUN.read_text())["counts"]
    return {(dtype, way) for dtype, way, _ in counts}


def left_out() -> set[str]:
    """Return the dtypes that the run left out."""
    return set(json.loads(LAST_RUN.read_text())["left out"])

# Keeps the counts of the last recorded soak; see docs/ship/robustness.md.
"""The guide shows these counts; docs/_ext/operator_coverage.py reads the file."""

import datetime
import json
from collections import Counter
from pathlib import Path

import torch

from .runs import RUNS, Outcome

LAST_RUN = Path(__file__).with_suffix(".json")


def record(
    outcomes: list[Outcome], commit: str, minutes: float, sanitizer: str | None = None
) -> None:
    """Write how many processes of each kind ran, and how often each call.

    Args:
        commit: the one of the sources when the run began.
        minutes: how long it took.
        sanitizer: the one that the backend was built with. Only the number of processes
            is kept then, beside the counts of the last run without.
    """
    before = json.loads(LAST_RUN.read_text()) if LAST_RUN.exists() else {}
    sanitized = before.get("sanitized", {})
    about = {
        "torch": torch.__version__.split("+")[0],
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "minutes": round(minutes),
    }
    if sanitizer:
        failed = sum(bool(one.error) for one in outcomes)
        counts = {"processes": len(outcomes), "failed": failed}
        found = before | {"sanitized": sanitized | {sanitizer: about | counts}}
    else:
        rows = []
        for run in RUNS:
            own = [one for one in outcomes if one.run == run]
            failed = sum(bool(one.error) for one in own)
            rows.append([run.kind, run.name, len(own), failed])
        calls = sum((Counter(one.calls) for one in outcomes), Counter())
        found = about | {"runs": rows, "calls": dict(calls), "sanitized": sanitized}
    LAST_RUN.write_text(json.dumps(found, indent=1) + "\n")

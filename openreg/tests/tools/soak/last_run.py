# Keeps the counts of the last recorded soak; see docs/ship/robustness.md.
"""The guide shows these counts; docs/_ext/operator_coverage.py reads the file."""

import datetime
import json
from collections import Counter
from pathlib import Path

import torch

from .runs import RUNS, Outcome

LAST_RUN = Path(__file__).with_suffix(".json")


def record(outcomes: list[Outcome], commit: str, minutes: float) -> None:
    """Write how many processes of each kind ran, and how often each call.

    Args:
        commit: the one of the sources when the run began.
        minutes: how long it took.
    """
    rows = []
    for run in RUNS:
        own = [one for one in outcomes if one.run == run]
        failed = sum(bool(one.error) for one in own)
        rows.append([run.kind, run.name, len(own), failed])
    calls = sum((Counter(one.calls) for one in outcomes), Counter())
    found = {
        "torch": torch.__version__.split("+")[0],
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "minutes": round(minutes),
        "runs": rows,
        "calls": dict(calls),
    }
    LAST_RUN.write_text(json.dumps(found, indent=1) + "\n")

# Computes what PyTorch's relay measures of your jobs; see docs/ship/relay.md.
"""Reads jobs as GitHub lists them, one JSON object a line; prints the figures of L3.

    gh api repos/OWNER/REPO/actions/runs/ID/jobs --jq '.jobs[]' >> jobs.json
    python3 relay_figures.py jobs.json

It exits with 1 if a figure misses its limit, with 2 if no job of the file is finished.
"""

import json
import statistics
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

MINUTE, HOUR = 60, 3600  # seconds
LIMITS = {  # of RFC-0050; pass_rate must be above its limit, the others below
    "pass_rate": 0.90,
    "timeout_rate": 0.01,
    "overrun_rate": 0.01,
    "mean_queue_minutes": 30.0,
    "median_hours": 3.0,
}


class Job(NamedTuple):
    """A finished job; its times are in seconds."""

    run: int
    conclusion: str
    created: float
    started: float
    completed: float


def finished(lines: list[str]) -> list[Job]:
    found = []
    for job in map(json.loads, lines):
        if job["conclusion"] not in (None, "skipped"):
            keys = ("created_at", "started_at", "completed_at")
            times = [datetime.fromisoformat(job[key]).timestamp() for key in keys]
            found.append(Job(job["run_id"], job["conclusion"], *times))
    return found


# LITERALINCLUDE START: RELAY_FIGURES
def figures(jobs: list[Job]) -> dict[str, float]:
    """Return the figures of finished jobs, a share for each rate."""
    ends = [job.conclusion for job in jobs]
    ran = [job for job in jobs if job.conclusion != "timed_out"]
    long = [job for job in ran if job.completed - job.started > 3 * HOUR]
    queue = [job.started - job.created for job in jobs]
    runs = defaultdict(list)
    for job in jobs:
        runs[job.run] += [job.created, job.completed]
    end_to_end = [max(times) - min(times) for times in runs.values()]
    return {
        "pass_rate": ends.count("success") / len(jobs),
        "timeout_rate": ends.count("timed_out") / len(jobs),
        "overrun_rate": len(long) / len(jobs),
        "mean_queue_minutes": statistics.fmean(queue) / MINUTE,
        "median_hours": statistics.median(end_to_end) / HOUR,
    }


# LITERALINCLUDE END: RELAY_FIGURES


def sign(name: str) -> str:
    return ">" if name == "pass_rate" else "<"


def meets(name: str, value: float) -> bool:
    limit = LIMITS[name]
    return value > limit if sign(name) == ">" else value < limit


def main(path: str) -> int:
    jobs = finished(Path(path).read_text().splitlines())
    if not jobs:
        print(f"relay_figures.py: no job in {path} is finished", file=sys.stderr)
        return 2
    found = figures(jobs)
    for name, value in found.items():
        verdict = "met" if meets(name, value) else "MISSED"
        print(f"{name:18} {value:6.2f} {sign(name)} {LIMITS[name]:5.2f}  {verdict}")
    return int(not all(meets(name, value) for name, value in found.items()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

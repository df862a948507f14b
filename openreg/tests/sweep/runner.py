# Shares the cases among processes, and survives what they do; see docs/ship/testing.md.
"""A process that crashes or hangs costs one case; another process does the rest."""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .cases import Case, Verdict

TESTS = Path(__file__).resolve().parents[1]
WORKER = "sweep.worker"

# How many samples of a case to run, by its dtype; all bad arguments.
QUICK = {"float32": 5, "float64": 2, "bfloat16": 2, "complex64": 2, "int64": 2}
QUICK |= {"bool": 2}


def run_all(
    cases: list[Case],
    limits: dict[str, int],
    jobs: int = 1,
    seconds: float = 120,
) -> list[Verdict]:
    """Check cases.

    Args:
        limits: how many samples to run, by dtype; all of a dtype that is not in it.
        jobs: how many processes run at the same time.
        seconds: a case that takes longer hangs.
    """
    # Neighbours in the list are related, and may all be slow: deal them out.
    chunks = [cases[start::jobs] for start in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(lambda chunk: _run_chunk(chunk, limits, seconds), chunks))
    found = {verdict.case: verdict for verdicts in done for verdict in verdicts}
    return [found[case] for case in cases]


# LITERALINCLUDE START: RUN_CHUNK
def _run_chunk(
    cases: list[Case], limits: dict[str, int], seconds: float
) -> list[Verdict]:
    """Check cases in a process; start another one for those that it leaves."""
    verdicts: list[Verdict] = []
    while len(verdicts) < len(cases):
        more, process = _run_process(cases[len(verdicts) :], limits, seconds)
        if not more:
            raise RuntimeError(f"a worker checked nothing: {process.stderr}")
        if more[-1].verdict == "started":
            hangs = "Timeout (" in process.stderr
            more[-1].verdict = "hang" if hangs else "crash"
            end = process.stderr[-1500:]
            more[-1].detail = f"exit status {process.returncode}: {end}"
        verdicts += more
    return verdicts


# LITERALINCLUDE END: RUN_CHUNK


def _run_process(
    cases: list[Case], limits: dict[str, int], seconds: float
) -> tuple[list[Verdict], subprocess.CompletedProcess[str]]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        report.touch()
        command = [sys.executable, "-X", "faulthandler", "-m", WORKER]
        process = subprocess.run(
            [*command, str(report), json.dumps(limits), str(seconds)],
            input=json.dumps(cases),
            cwd=TESTS,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        lines = report.read_text().splitlines()
    verdicts = [Verdict(**json.loads(line)) for line in lines]
    last = {verdict.case: verdict for verdict in verdicts}  # not "started", if it ended
    return list(last.values()), process

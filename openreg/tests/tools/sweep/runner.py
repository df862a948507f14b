# Shares the cases among processes, and survives what they do; see docs/ship/sweep.md.
"""A process that crashes or hangs costs one case; another process does the rest."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from .cases import Case, Verdict

TOOLS = Path(__file__).resolve().parents[1]
WORKER = "sweep.worker"
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    # So that schema_search.py can fill the memory of every result.
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
}
INTERVAL = 10.0  # seconds between two reports of the progress

# How many samples of a case to run, by its dtype; all bad arguments.
QUICK = {"float32": 5, "float64": 2, "bfloat16": 2, "complex64": 2, "int64": 2}
QUICK |= {"bool": 2}


def run_all(
    cases: list[Case],
    limits: dict[str, int],
    jobs: int = 1,
    seconds: float = 600,
    progress: Callable[[int], None] | None = None,
    folder: Path | None = None,
) -> list[Verdict]:
    """Check cases.

    Args:
        limits: how many samples to run, by dtype; all of a dtype that is not in it.
        jobs: how many processes run at the same time.
        seconds: a case that takes longer hangs.
        progress: is called at intervals with the number of cases done.
        folder: keeps the reports. A case with a report in it does not run again.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return run_all(cases, limits, jobs, seconds, progress, Path(temporary))
    found = {verdict.case: verdict for verdict in _finished(folder)}
    rest = [case for case in cases if case not in found]
    # Neighbors in the list are related, and may all be slow: deal them out.
    chunks = [rest[start::jobs] for start in range(jobs)]
    with _progress(folder, progress), ThreadPoolExecutor(jobs) as pool:
        run = partial(_run_chunk, folder, limits, seconds)
        for verdicts in pool.map(run, chunks):
            found |= {verdict.case: verdict for verdict in verdicts}
    return [found[case] for case in cases]


def _finished(folder: Path) -> list[Verdict]:
    """Return the verdicts of an earlier run, without the cases that it did not end."""
    reports = [file.read_text().splitlines(keepends=True) for file in folder.iterdir()]
    lines = [line for report in reports for line in report if line.endswith("\n")]
    verdicts = [Verdict(**json.loads(line)) for line in lines]
    return [verdict for verdict in verdicts if verdict.verdict != "started"]


# LITERALINCLUDE START: RUN_CHUNK
def _run_chunk(
    folder: Path, limits: dict[str, int], seconds: float, cases: list[Case]
) -> list[Verdict]:
    """Check cases in a process; start another one for those that it leaves."""
    verdicts: list[Verdict] = []
    while len(verdicts) < len(cases):
        more, process = _run_process(folder, limits, seconds, cases[len(verdicts) :])
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
    folder: Path, limits: dict[str, int], seconds: float, cases: list[Case]
) -> tuple[list[Verdict], subprocess.CompletedProcess[str]]:
    number, report = tempfile.mkstemp(dir=folder)
    os.close(number)
    command = [sys.executable, "-X", "faulthandler", "-m", WORKER]
    process = subprocess.run(
        [*command, report, json.dumps(limits), str(seconds)],
        input=json.dumps(cases),
        cwd=TOOLS,
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
    )
    lines = Path(report).read_text().splitlines()
    verdicts = [Verdict(**json.loads(line)) for line in lines]
    last = {verdict.case: verdict for verdict in verdicts}  # not "started", if it ended
    return list(last.values()), process


@contextlib.contextmanager
def _progress(folder: Path, tell: Callable[[int], None] | None) -> Iterator[None]:
    """Tell every few seconds how many cases the reports in a folder contain."""
    stop = threading.Event()

    def watch(tell: Callable[[int], None]) -> None:
        while not stop.wait(INTERVAL):  # two lines for each case
            tell(sum(file.read_bytes().count(b"\n") // 2 for file in folder.iterdir()))

    thread = threading.Thread(target=watch, args=(tell,))
    if tell is not None:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if tell is not None:
            thread.join()

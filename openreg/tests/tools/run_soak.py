# Runs random programs for as long as asked; see docs/ship/robustness.md.
"""Run random programs, kill random processes, and compare everything with the CPU.

python openreg/tests/tools/run_soak.py                      half a minute
python openreg/tests/tools/run_soak.py --minutes 30         `nox -s soak` does that
python openreg/tests/tools/run_soak.py --kind ranks         some of it

What a process printed that failed is shown, with its seed: the same seed gives the same
programs again.
"""

import argparse
import itertools
import os
import secrets
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from soak.last_run import LAST_RUN, record
from soak.runs import RUNS, Outcome, repeat
from sweep.last_run import current_commit

SECONDS = 20  # of one process


def main() -> int:
    options = _parse()
    start, began_at = time.monotonic(), current_commit() if options.record else ""
    end = start + 60 * options.minutes
    runs = [run for run in RUNS if options.kind in (None, run.kind)]
    queue = zip(itertools.cycle(runs), itertools.count(options.seed), strict=False)

    def work(_: int) -> list[Outcome]:
        done = []
        while time.monotonic() < end:
            run, seed = next(queue)
            done.append(repeat(run, min(SECONDS, options.minutes * 60 / 4), seed, {}))
            _tell(done[-1], time.monotonic() - start)
        return done

    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = [
            one for found in pool.map(work, range(options.jobs)) for one in found
        ]
    minutes = (time.monotonic() - start) / 60
    print(table(outcomes))
    failed = sum(bool(one.error) for one in outcomes)
    print(f"{len(outcomes)} processes in {minutes:.1f} min, {failed} failed")
    if options.record:
        record(outcomes, began_at, minutes, options.sanitizer)
        print(f"The counts are in {LAST_RUN}")
    return 1 if failed else 0


def table(outcomes: list[Outcome]) -> str:
    """Return a line for each kind of round and each call in it."""
    lines = [f"{'':<15} {'':<50} {'processes':>9} {'failed':>6}"]
    for run in RUNS:
        own = [one for one in outcomes if one.run == run]
        failed = sum(bool(one.error) for one in own)
        if own:
            lines.append(f"{run.kind:<15} {run.name:<50} {len(own):>9} {failed:>6}")
    calls = sum((Counter(one.calls) for one in outcomes), Counter())
    return "\n".join([*lines, "", *(f"{n:>10} {name}" for name, n in calls.items())])


def _tell(outcome: Outcome, seconds: float) -> None:
    state = f"failed, seed {outcome.seed}\n{outcome.error}" if outcome.error else "ok"
    run = outcome.run
    line = f"{seconds / 60:.1f} min: {run.kind}, {run.name}: {state}"
    print(line, file=sys.stderr, flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = sorted({run.kind for run in RUNS})
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--kind", choices=kinds, help="only rounds of this kind")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument(
        "--record", action="store_true", help="write the counts for the guide"
    )
    parser.add_argument("--sanitizer", help="the one that the backend was built with")
    options = parser.parse_args()
    if options.record and options.kind:
        parser.error("--record is for a run of all kinds")
    return options


if __name__ == "__main__":
    sys.exit(main())

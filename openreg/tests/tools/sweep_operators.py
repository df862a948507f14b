# Runs PyTorch's operator database on the device; see docs/ship/sweep.md.
"""Compare every operator of the database on the device with the CPU.

python openreg/tests/tools/sweep_operators.py                      some samples of each
python openreg/tests/tools/sweep_operators.py --full               all samples
python openreg/tests/tools/sweep_operators.py -k softmax -d bool   some of it

`nox -s sweep` runs it with --full; -- --quick undoes that.
"""

import argparse
import dataclasses
import json
import os
import sys
import time
from pathlib import Path

from sweep.cases import ALL_DTYPES, ANY, all_cases, more_cases
from sweep.known import problems, unused
from sweep.last_run import LAST_RUN, current_commit, record
from sweep.runner import QUICK, run_all
from sweep.table import table
from sweep.ways import WAYS


def main() -> int:
    options = _parse()
    cases = [
        case
        for case in [*all_cases(), *more_cases()]
        if options.k in case.operator
        and case.dtype in (options.dtype or [case.dtype])
        and case.way in (options.way or [case.way])
    ]
    start, began_at = time.monotonic(), current_commit() if options.record else ""

    def progress(done: int) -> None:
        share, minutes = 100 * done // len(cases), (time.monotonic() - start) / 60
        line = f"{done} of {len(cases)} cases, {share} %, {minutes:.1f} min"
        print(line, file=sys.stderr, flush=True)

    verdicts = run_all(
        cases,
        {} if options.full else QUICK,
        options.jobs,
        seconds=600 if options.full else 120,
        progress=progress,
        folder=options.resume and _reports(options.resume, full=options.full),
    )
    if options.json:
        options.json.parent.mkdir(exist_ok=True)
        report = [dataclasses.asdict(verdict) for verdict in verdicts]
        options.json.write_text(json.dumps(report))
    print(table(verdicts))
    found = problems(verdicts)
    if not (options.k or options.dtype or options.way):
        found += unused(verdicts, full=options.full)
    print(*found, sep="\n")
    seconds = time.monotonic() - start
    print(f"{len(cases)} cases in {seconds:.0f} s, {len(found)} problems")
    if options.record:
        record(verdicts, began_at, full=options.full)
        print(f"The counts are in {LAST_RUN}")
    return 1 if found else 0


def _reports(folder: Path, *, full: bool) -> Path:
    """Return where one run of these sources keeps its reports."""
    commit = current_commit()
    if commit.endswith("-dirty"):
        sys.exit("--resume needs sources without changes: commit them first")
    reports = folder / f"{commit}-{'full' if full else 'quick'}"
    reports.mkdir(parents=True, exist_ok=True)
    return reports


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="run all samples")
    parser.add_argument("--quick", action="store_false", dest="full")
    parser.add_argument("-k", default="", help="only operators with this in the name")
    parser.add_argument(
        "-d",
        "--dtype",
        action="append",
        choices=[*ALL_DTYPES, ANY],
        metavar="DTYPE",
        help=f"only this dtype: {', '.join([*ALL_DTYPES, ANY])}",
    )
    parser.add_argument(
        "-w",
        "--way",
        action="append",
        choices=WAYS,
        metavar="WAY",
        help=f"only this way: {', '.join(WAYS)}",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--json", type=Path, help="write all verdicts to this file")
    parser.add_argument(
        "--record", action="store_true", help="write the counts for the guide"
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FOLDER",
        help="keep finished cases here, and go on with a run that was stopped",
    )
    options = parser.parse_args()
    if options.record and (options.k or options.dtype or options.way):
        parser.error("--record is for a run of all cases")
    return options


if __name__ == "__main__":
    sys.exit(main())

# Runs PyTorch's operator database on the device; see docs/ship/testing.md.
"""Compare every operator of the database on the device with the CPU.

python openreg/tests/sweep_operators.py                      what the tests check
python openreg/tests/sweep_operators.py --full               all samples
python openreg/tests/sweep_operators.py -k softmax -d bool   some of it
"""

import argparse
import dataclasses
import json
import os
import sys
import time
from pathlib import Path

from sweep.cases import all_cases
from sweep.known import problems
from sweep.runner import QUICK, run_all
from sweep.table import table


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="run all samples")
    parser.add_argument("-k", default="", help="only operators with this in the name")
    parser.add_argument("-d", "--dtype", action="append", help="only this dtype")
    parser.add_argument("-w", "--way", action="append", help="only this way")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--json", type=Path, help="write all verdicts to this file")
    options = parser.parse_args()
    cases = [
        case
        for case in all_cases()
        if options.k in case.operator
        and case.dtype in (options.dtype or [case.dtype])
        and case.way in (options.way or [case.way])
    ]
    start = time.monotonic()
    verdicts = run_all(cases, {} if options.full else QUICK, options.jobs)
    if options.json:
        report = [dataclasses.asdict(verdict) for verdict in verdicts]
        options.json.write_text(json.dumps(report))
    print(table(verdicts))
    found = problems(verdicts)
    print(*found, sep="\n")
    seconds = time.monotonic() - start
    print(f"{len(cases)} cases in {seconds:.0f} s, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

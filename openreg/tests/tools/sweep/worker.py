# Checks some cases in a separate process; see docs/ship/sweep.md.
import dataclasses
import faulthandler
import json
import sys
import warnings
from pathlib import Path

import torch

from .cases import Case, Verdict
from .check import DeviceFault, check


def main(report: str, limits: dict[str, int | None], seconds: float) -> None:
    """Read cases from stdin; append a line to the report before and after each."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with Path(report).open("a", buffering=1) as file:

        def write(verdict: Verdict) -> None:
            file.write(json.dumps(dataclasses.asdict(verdict)) + "\n")

        for line in json.load(sys.stdin):
            case = Case(*line)
            write(Verdict(*case, "started"))
            faulthandler.dump_traceback_later(seconds, exit=True)
            try:
                verdict = check(case, limits.get(case.dtype))
            except DeviceFault as fault:
                write(fault.verdict)
                sys.exit("the device has stopped")
            faulthandler.cancel_dump_traceback_later()
            write(verdict)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3]))

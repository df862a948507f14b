# Measures what docs/reference/operator-coverage.md shows.
"""Ask the dispatcher, and run the database in float32:

python openreg/tests/tools/measure_operators.py build/operators.json
"""

import json
import os
import sys
from pathlib import Path

import torch
from sweep.cases import all_cases
from sweep.cuda_dtypes import pairs, reason
from sweep.routes import routes
from sweep.runner import QUICK, run_all


def main(report: Path) -> None:
    cases = [case for case in all_cases() if case.dtype == "float32"]
    verdicts = run_all(cases, QUICK, os.cpu_count() or 1)
    fallbacks: dict[str, set[str]] = {}
    for verdict in verdicts:
        fallbacks.setdefault(verdict.operator, set()).update(verdict.fallbacks)
    measured = {
        "torch": torch.__version__,
        "routes": routes(),
        "cuda dtypes": [(n, str(t).split(".")[1], reason(n, t)) for n, t in pairs()],
        "database": {name: sorted(found) for name, found in fallbacks.items()},
    }
    report.parent.mkdir(exist_ok=True)
    report.write_text(json.dumps(measured))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

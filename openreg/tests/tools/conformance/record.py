# Keeps a report of the kit for the guide to show; see docs/ship/conformance.md.
"""The report of one backend, without what the cases say about themselves.

    python -m torch_conformance --device acme --json now.json
    python openreg/tests/tools/conformance/record.py now.json acme COMMIT

COMMIT is the one of the backend. The other backends in the file stay as they are.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded.json")
LEVEL = re.compile(r'\{\s+"passed".*?\n   \}', re.DOTALL)  # in the text with indents


def summary(report: dict[str, Any], commit: str) -> dict[str, Any]:
    """Return what the guide shows of a report."""
    levels: dict[str, dict[str, Any]] = {}
    for result in report["results"]:
        row = levels.setdefault(
            str(result["level"]), {"passed": 0, "seconds": 0, "failed": {}}
        )
        row["seconds"] += result["seconds"]
        if result["outcome"] == "passed":
            row["passed"] += 1
        else:
            row["failed"][result["case"]] = result["outcome"]
    for level, row in levels.items():
        row["seconds"] = round(row["seconds"], 1)
        row["score"] = report["levels"][level]
    return {
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "torch": report["torch"].split("+")[0],
        "readiness": report["readiness"],
        "reached": report["reached"],
        "levels": levels,
    }


def record(name: str, row: dict[str, Any], file: Path = RECORDED) -> None:
    """Replace the row of one backend; a level takes one line."""
    found = json.loads(file.read_text()) if file.exists() else {}
    text = json.dumps({**found, name: row}, indent=1)
    file.write_text(LEVEL.sub(lambda it: json.dumps(json.loads(it[0])), text) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("name")
    parser.add_argument("commit")
    given = parser.parse_args()
    record(given.name, summary(json.loads(given.report.read_text()), given.commit))

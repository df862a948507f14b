# Keeps what was found on each release of torch; see docs/ship/upgrading.md.
"""The guide shows these counts; docs/_ext/operator_coverage.py reads the file."""

import datetime
import json
from pathlib import Path
from typing import Any

from .parts import PARTS, Counts

LAST_RUN = Path(__file__).with_suffix(".json")
Recorded = dict[str, dict[str, dict[str, Any]]]


def read(file: Path = LAST_RUN) -> Recorded:
    """Return the counts of all releases that were tried, by release and part."""
    return json.loads(file.read_text()) if file.exists() else {}


def record(
    release: str, part: str, counts: Counts, commit: str, file: Path = LAST_RUN
) -> None:
    """Replace the counts of one part; the others keep their date and commit."""
    found = read(file)
    today = datetime.date.today().isoformat()
    row = found.setdefault(release.split("+")[0], {})
    row[part] = {**counts, "torch": release, "date": today, "commit": commit}
    ordered = {name: found[name] for name in sorted(found)}
    file.write_text(json.dumps(ordered, indent=1) + "\n")


def table(found: Recorded) -> str:
    """Return a row for each release; a part that never ran says so."""
    lines = [f"{'torch':8} " + " ".join(f"{part:>24}" for part in PARTS)]
    for release, row in found.items():
        cells = [cell(row.get(part)) for part in PARTS]
        lines.append(f"{release:8} " + " ".join(f"{text:>24}" for text in cells))
    return "\n".join(lines)


def cell(counts: dict[str, Any] | None) -> str:
    """Return one part in a few words."""
    if counts is None:
        return "not run"
    if "MB" in counts:
        return f"{counts['MB']} MB"
    if "passed" not in counts:  # gaps
        gaps = [value for value in counts.values() if isinstance(value, int)]
        return f"{gaps.count(0)} of {len(gaps)} closed"
    total = counts["passed"] + counts["failed"]
    return f"{counts['passed']} of {total}"

# Counts the verdicts of the sweep; see docs/ship/testing.md.
from collections import Counter

from .cases import Verdict

KINDS = ("right", "same error", "error", "wrong value", "wrong device")
KINDS += ("crash", "hang")


def table(verdicts: list[Verdict]) -> str:
    """Return a table: a row for each dtype and way, a column for each verdict."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for verdict in verdicts:
        row = counts.setdefault((verdict.dtype, verdict.way), Counter())
        row[verdict.verdict] += 1
    lines = ["  ".join([f"{'dtype':9}", f"{'way':8}", *KINDS])]
    for (dtype, way), row in counts.items():
        cells = [f"{row[kind] or '-':>{len(kind)}}" for kind in KINDS]
        lines.append("  ".join([f"{dtype:9}", f"{way:8}", *cells]))
    return "\n".join(lines)

# Counts the verdicts of the sweep; see docs/ship/sweep.md.
from collections import Counter

from .cases import Verdict

KINDS = ("right", "same error", "error", "wrong value", "wrong device")
KINDS += ("crash", "hang")


def counts(verdicts: list[Verdict]) -> dict[tuple[str, str], Counter[str]]:
    """Return how often each kind occurs, for each dtype and way."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for verdict in verdicts:
        row = found.setdefault((verdict.dtype, verdict.way), Counter())
        row[verdict.verdict] += 1
    return found


def table(verdicts: list[Verdict]) -> str:
    """Return a table: a row for each dtype and way, a column for each verdict."""
    lines = ["  ".join([f"{'dtype':10}", f"{'way':15}", *KINDS])]
    for (dtype, way), row in counts(verdicts).items():
        cells = [f"{row[kind] or '-':>{len(kind)}}" for kind in KINDS]
        lines.append("  ".join([f"{dtype:10}", f"{way:15}", *cells]))
    return "\n".join(lines)

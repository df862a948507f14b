# The recorded runs of the conformance kit, for docs/ship/conformance.md.
"""A row for each level, and what did not pass on each backend."""

from __future__ import annotations

from typing import Any


def percent(share: float) -> str:
    """Round down, as the kit does: 100 % is nothing less."""
    return f"{int(100 * share + 1e-9)} %"


def conformance_table(recorded: dict[str, Any]) -> str:
    """Return a table of devices and levels: cases that passed, score, seconds."""
    levels = sorted({level for run in recorded.values() for level in run["levels"]})
    lines = [
        "| level | " + " | ".join(recorded) + " |",
        "|---|" + "--:|" * len(recorded),
    ]
    for level in levels:
        cells = [_cell(run["levels"].get(level)) for run in recorded.values()]
        lines.append(f"| {level} | " + " | ".join(cells) + " |")
    for name, run in recorded.items():
        reached = "none" if run["reached"] is None else run["reached"]
        lines += [
            "",
            f"* {name}, commit `{run['commit']}`, with torch {run['torch']}, recorded "
            f"{run['date']}: readiness {percent(run['readiness'])}, level "
            f"reached: {reached}.",
        ]
    return "\n".join(lines)


def _cell(row: dict[str, Any] | None) -> str:
    """Return what one level of one device shows; it may not have run."""
    if row is None:
        return "-"
    cases = row["passed"] + len(row["failed"])
    share = percent(row["score"])
    return f"{row['passed']} of {cases}, {share}, {row['seconds']:.0f} s"


def failures_table(recorded: dict[str, Any]) -> str:
    """Return the cases that do not pass, by backend and area."""
    lines = ["| backend | level | area | cases that do not pass |", "|---|--:|---|---|"]
    for name, run in recorded.items():
        for level, row in run["levels"].items():
            areas: dict[str, list[str]] = {}
            for case, outcome in row["failed"].items():
                area, _, short = case.partition(".")
                areas.setdefault(area, []).append(f"`{short}` {outcome}")
            for area, cases in areas.items():
                lines.append(f"| {name} | {level} | {area} | {', '.join(cases)} |")
    return "\n".join(lines)

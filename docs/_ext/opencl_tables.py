# The recorded runs of the second device, for docs/opencl/cost.md.
"""What the kit said after each day of the bring-up, and how fast the kernels are."""

from __future__ import annotations

from typing import Any


def days_table(recorded: dict[str, Any]) -> str:
    """Return a table of the days: lines written so far, cases of the kit that pass."""
    lines = [
        "| days | what is there | driver | kernels | cases that pass |",
        "|---|---|--:|--:|--:|",
    ]
    for name, row in recorded["rows"].items():
        share = f"{row['passed']} of {row['cases']}"
        lines.append(
            f"| {row['days']} | {name} | {row['driver']:,} lines "
            f"| {row['kernels']:,} lines | {share} |"
        )
    return "\n".join([*lines, "", _recorded(recorded)])


def speed_table(recorded: dict[str, Any]) -> str:
    """Return a table of times on the device and on the CPU, in microseconds."""
    lines = ["| work | OpenCL | CPU | ratio |", "|---|--:|--:|--:|"]
    for name, (device, cpu) in recorded["rows"].items():
        lines.append(f"| {name} | {device:,.0f} | {cpu:,.0f} | {device / cpu:.1f} |")
    return "\n".join([*lines, "", _recorded(recorded)])


def _recorded(recorded: dict[str, Any]) -> str:
    return f"Recorded {recorded['date']}, commit `{recorded['commit']}`."

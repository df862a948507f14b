# The recorded runs of the Triton backend, for docs/modules/triton*.md.
"""What each member of the plug-in is needed for, and how fast its kernels are."""

from __future__ import annotations

from typing import Any


def members_table(recorded: dict[str, Any]) -> str:
    """Return a row for each member that Triton uses, with the error of its absence."""
    lines = ["| member | abstract | called by | without it |", "|---|---|---|---|"]
    for row in recorded["rows"]:
        abstract = "yes" if row["abstract"] else "no"
        caller = f"`{row['called_by']}`" if row["called_by"] else ""
        error = f"`{_cell(row['error'])}`" if row["error"] else "nothing fails"
        lines.append(f"| `{row['member']}` | {abstract} | {caller} | {error} |")
    return "\n".join([*lines, "", _recorded(recorded)])


def _cell(error: str) -> str:
    """Return the first line of an error, as it can stand between backticks."""
    return error.strip().splitlines()[0].replace("|", "/").replace("`", "'")


def speed_table(recorded: dict[str, Any]) -> str:
    """Return a table of milliseconds: eager, C++ loops, Triton."""
    lines = [
        "| work | eager | C++ loops | Triton | Triton / C++ loops |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, (eager, loops, triton) in recorded["rows"].items():
        cells = [f"{eager:.2f}", f"{loops:.2f}" if loops else "-", f"{triton:.2f}"]
        ratio = f"{triton / loops:.1f}" if loops else "-"
        lines.append(f"| {name} | {' | '.join(cells)} | {ratio} |")
    return "\n".join([*lines, "", _recorded(recorded)])


def costs_table(recorded: dict[str, Any]) -> str:
    """Return what a launch and a compilation cost on the host."""
    lines = ["| on the host | time |", "|---|--:|"]
    lines += [f"| {name} | {us:.1f} µs |" for name, us in recorded["launch"].items()]
    for name, ms in recorded["compile"].items():
        lines.append(f"| compilation of {name} | {ms:,.0f} ms |")
    return "\n".join([*lines, "", _recorded(recorded)])


def _recorded(recorded: dict[str, Any]) -> str:
    where = f", on {recorded['cores']} cores" if "cores" in recorded else ""
    return (
        f"Recorded {recorded['date']}, commit `{recorded['commit']}`, Triton "
        f"{recorded['triton']}{where}."
    )

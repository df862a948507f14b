# The recorded runs of the Triton backend, for docs/modules/triton*.md.
"""What each member of the plug-in is needed for, and how fast its kernels are."""

from __future__ import annotations

from typing import Any

LONGEST = 90  # letters of an error


def members_table(recorded: dict[str, Any]) -> str:
    """Return what fails without each member that is required and not abstract."""
    lines = ["| member | needed by | called in | without it |", "|---|---|---|---|"]
    abstract, unused = [], []
    for row in recorded["rows"]:
        name = f"`{row['member']}`"
        if row["abstract"]:
            abstract.append(name)
        elif row["error"] is None:
            unused.append(name)
        else:
            error = row["error"].removesuffix(_no_attribute(row["member"]))
            cells = [name, row["program"], _code(row["called_by"]), _code(error)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(
        [
            *lines,
            "",
            f"Abstract, so that no plug-in loads without them: {', '.join(abstract)}.",
            "",
            f"Nothing failed without {', '.join(unused)}.",
            "",
            _recorded(recorded),
        ]
    )


def _no_attribute(member: str) -> str:
    """Return what Python says of a member that is missing."""
    owner, _, name = member.rpartition(".")
    return f": '{owner}' object has no attribute '{name}'"


def _code(text: str | None) -> str:
    """Return a text between backticks that fits a cell of a table."""
    plain = (text or "").replace("|", "/").replace("`", "'")
    if len(plain) > LONGEST:
        plain = plain[:LONGEST].rpartition(" ")[0] + " ..."
    return f"`{plain}`" if plain else ""


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
    date = f" {recorded['date']}," if "date" in recorded else ""
    where = f", on {recorded['cores']} cores" if "cores" in recorded else ""
    return (
        f"Recorded{date} at commit `{recorded['commit']}`, with Triton "
        f"{recorded['triton']}{where}."
    )

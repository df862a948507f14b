# The table of sizes and build times of docs/ship/packaging.md, as measured.
"""openreg/tests/tools/measure_packaging.py writes the record."""

from __future__ import annotations

from typing import Any

# What users download, by the name of the strategy in the record.
DOWNLOADS = {
    "one release": "a wheel for one release of torch",
    "several releases": "a wheel for several releases",
    "stable ABI": "stable ABI: the operator of the guide",
    "sources": "sources; each user waits for the build",
}


def packaging_table(recorded: dict[str, Any]) -> str:
    """Return a row for each strategy; one that was never measured says so."""
    lines = ["| strategy | download | build | CPU time | measured |"]
    lines.append("|---|--:|--:|--:|---|")
    for name, title in DOWNLOADS.items():
        row = recorded.get(name)
        cells = ["not measured", "", "", ""]
        if row:
            on = f"{row['date']}, `{row['commit']}`, {row['cores']} cores"
            size = f"{row['MB']} MB"
            cells = [size, f"{row['seconds']:.0f} s", f"{row['cpu']:.0f} s", on]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)

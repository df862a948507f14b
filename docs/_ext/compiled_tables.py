# The tables of docs/modules/compile-inductor.md, as measured.
"""Times of compiled code, and what the compiled operator database consists of."""

from __future__ import annotations

from typing import Any

# What `compiled_table` calls the rows of openreg/benchmarks/compiled.py.
ROWS = {
    "MLP step, device / CPU": "training step of an MLP | the CPU, compiled",
    "CNN step, device / CPU": "training step of a CNN | the CPU, compiled",
    "CNN step, device / CPU, contiguous": (
        "the same | the CPU, compiled without channels last"
    ),
    "Transformer step, device / CPU": (
        "training step of a Transformer block | the CPU, compiled"
    ),
    "1 M elements, compiled / eager": (
        "pointwise operators and a sum over 1 M elements | the device, eager"
    ),
    "tiny, device / CPU": "two operators on 8 elements | the CPU, compiled",
    "tiny, replay / call": "replay of a graph of these two | their compiled call",
    "new process, device / CPU": (
        "a process that imports torch and finds the MLP in the cache | the CPU"
    ),
}
CONSISTS = {
    "fused kernels": "generated kernels, and operators between them",
    "operators": "operators of the backend only",
    "no graph": "nothing: Dynamo records no operator",
    "the error of eager mode": "nothing: eager mode fails as well",
    "the error of the CPU": "nothing: compiling for the CPU fails as well",
}


def compiled_table(last_run: dict[str, Any]) -> str:
    """Return the ratios of the benchmark."""
    ratios = {name: ratio for name, (_, _, ratio) in last_run["rows"].items()}
    return "\n".join(
        [
            f"Measured {last_run['date']}, commit `{last_run['commit']}`, torch "
            f"{last_run['torch']}, on {last_run['cores']} cores:",
            "",
            "| what | compared with | ratio of the times |",
            "|---|---|--:|",
            *(f"| {ROWS[name]} | {ratio:.2f} |" for name, ratio in ratios.items()),
        ]
    )


def compiler_table(last_run: dict[str, Any]) -> str:
    """Return what the operators of the database became."""
    counts, failed = last_run["counts"], last_run["failed"]
    return "\n".join(
        [
            f"The last run that was recorded is of {last_run['date']}, commit "
            f"`{last_run['commit']}`, torch {last_run['torch']}: "
            f"{sum(counts.values()) + failed} of {last_run['entries']} operators, "
            f"{failed} of them wrong.",
            "",
            "| the compiled function consists of | operators |",
            "|---|--:|",
            *(f"| {CONSISTS[kind]} | {counts[kind]} |" for kind in counts),
        ]
    )

# What autoload adds to the time of `import torch`; see docs/frontend/autoload.md.
"""Times `import torch` with and without autoload, in new processes, in turn.

    python openreg/benchmarks/import_time.py [--rounds N] [--json FILE]

Each round imports torch once without backends and once with them, and gives one
difference; the table shows medians. Importing torch takes a second, and no two imports
take the same time, so the first process of a round also times the search for backends
and their hooks alone. The last line is a yardstick: what a hook costs that imports the
compiler.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

CHILD = """
import time
def timed(code):
    start = time.perf_counter(), time.process_time()
    exec(code, globals())
    return time.perf_counter() - start[0], time.process_time() - start[1]
times = timed("import torch")
if not torch._is_device_backend_autoload_enabled():
    times += timed("torch._import_device_backends()")
    times += timed("import torch._dynamo")
print(*times)
"""


@dataclass
class Row:
    """One line of the table; medians in milliseconds."""

    name: str
    elapsed_ms: float
    cpu_ms: float


def row(name: str, samples: Iterable[Iterable[float]]) -> Row:
    """Make a row of pairs of elapsed and CPU time."""
    elapsed, cpu = map(statistics.median, zip(*samples, strict=True))
    return Row(name, elapsed, cpu)


def run_child(autoload: str) -> list[float]:
    """Return the times that CHILD prints, in milliseconds."""
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    command = [sys.executable, "-c", CHILD]
    process = subprocess.run(command, env=env, check=True, capture_output=True)
    # A hook may also print something.
    return [float(word) * 1e3 for word in process.stdout.splitlines()[-1].split()]


def measure(rounds: int) -> list[Row]:
    """Return the rows of the table; one round more only warms the caches."""
    pairs = [(run_child("0"), run_child("1")) for _ in range(rounds + 1)][1:]
    return [
        row("import torch, autoload off", (off[:2] for off, _ in pairs)),
        row("import torch, autoload on", (on for _, on in pairs)),
        row("difference", ((on[0] - off[0], on[1] - off[1]) for off, on in pairs)),
        row("backends alone", (off[2:4] for off, _ in pairs)),
        row("import torch._dynamo", (off[4:] for off, _ in pairs)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time `import torch` with autoload.")
    parser.add_argument("--rounds", type=int, default=9, help="two processes each")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be positive")
    rows = measure(options.rounds)
    title = f"median of {options.rounds} rounds"
    print(f"{title:28}{'elapsed':>12}{'CPU':>12}")
    for line in rows:
        print(f"{line.name:28}{line.elapsed_ms:9.1f} ms{line.cpu_ms:9.1f} ms")
    if options.json is not None:
        figures = {
            "torch": metadata.version("torch"),
            "python": platform.python_version(),
            "rounds": options.rounds,
            "rows": [asdict(line) for line in rows],
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()

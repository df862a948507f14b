# Which rounds the soak runs, in which environments; see docs/ship/robustness.md.
"""A run is a process that repeats one kind of round with the same settings."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
SUPPORT = TOOLS.parent / "support"


@dataclass(frozen=True)
class Run:
    """A kind of round, and the environment variables that it runs with."""

    kind: str
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """What the table calls it."""
        settings = [
            f"{name}={value.format(seed='SEED')}" for name, value in self.settings
        ]
        return " ".join(settings) or "-"


STEAL = [("OPENREG_STEAL", "0"), ("OPENREG_STEAL", "1")]
DELAY = ("OPENREG_SIM_DELAY", "300:{seed}")  # at most 300 microseconds before each task
# LITERALINCLUDE START: RUNS
RUNS = [
    *(Run("programs", (steal,)) for steal in STEAL),
    *(Run("programs", (steal, DELAY)) for steal in STEAL),
    Run("programs", (("OPENREG_DEVICE_COUNT", "64"),)),
    *(Run("streams", (steal,)) for steal in STEAL),
    *(Run("ranks", (steal,)) for steal in STEAL),
    Run("ranks", (DELAY,)),
    Run("shared memory"),
    Run("loaders"),
]
# LITERALINCLUDE END: RUNS


@dataclass
class Outcome:
    """What became of one process."""

    run: Run
    seed: int
    calls: dict[str, int] = field(default_factory=dict)
    error: str = ""  # what it printed, if it failed


def repeat(run: Run, seconds: float, seed: int, more: dict[str, str]) -> Outcome:
    """Repeat a kind of round in a process.

    Args:
        seconds: how long; the last round ends later.
        seed: another one gives other programs.
        more: environment variables, such as those of a sanitizer.
    """
    path = [str(TOOLS), str(SUPPORT), os.environ.get("PYTHONPATH", "")]
    own = {name: value.format(seed=seed % 1000) for name, value in run.settings}
    process = subprocess.run(
        [sys.executable, "-m", "soak.round", run.kind, str(seconds), str(seed)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **own, **more},
        capture_output=True,
        text=True,
    )
    lines = process.stdout.splitlines()
    if process.returncode or not lines:
        text = f"exit status {process.returncode}\n{process.stdout}\n{process.stderr}"
        return Outcome(run, seed, error=text)
    return Outcome(run, seed, json.loads(lines[-1])["calls"])

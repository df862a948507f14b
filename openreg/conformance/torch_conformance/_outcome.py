# The result of a case on a device; see docs/ship/conformance.md.
from __future__ import annotations

import dataclasses

OUTCOMES = ("passed", "wrong", "missing", "crashed", "hung")
WIDTH = 240  # of a line of an error: torch lists every dispatch key in one


class Missing(Exception):
    """The device lacks a feature, or the machine lacks what would prove it."""


@dataclasses.dataclass
class Result:
    """The outcome of a case, and the capabilities that it measured."""

    case: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0
    measured: dict[str, bool] = dataclasses.field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


def told(error: BaseException) -> str:
    """An error in a few lines of a readable length."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()][:6]
    text = "\n".join(
        line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in lines
    )
    kinds = (Missing, AssertionError)
    return text if isinstance(error, kinds) else f"{type(error).__name__}: {text}"

# Progress of the process that runs a case; see docs/ship/conformance.md.
"""The time limit of a case starts again with each report: slow is not hung."""

from __future__ import annotations

from collections.abc import Callable


def _ignore(step: str) -> None:
    pass


_report: Callable[[str], None] = _ignore


def listen(report: Callable[[str], None]) -> None:
    """Call a function with each report of this process."""
    global _report
    _report = report


def progress(step: str = "") -> None:
    """Report that the case continues, and with which step if it has a name."""
    _report(step)

# How a test makes the device slow or full on purpose; see docs/ship/make-it-yours.md.
"""The driver's testing.py has these functions, and lists them as capabilities.

A test that calls one says so, and is deselected for a driver without it.
"""

from __future__ import annotations

from typing import Any

from backend import driver


def _lacking(*args: Any) -> Any:
    raise NotImplementedError("the driver's testing.py does not have this function")


hold = getattr(driver, "hold", _lacking)
delay = getattr(driver, "delay", _lacking)
fail_allocations = getattr(driver, "fail_allocations", _lacking)
reset = getattr(driver, "reset", _lacking)

# What the table of libraries checks, and how; see docs/frontend/training-libraries.md.
"""A check is a program of a user: it trains or computes here and on the CPU."""

import importlib
import os
import re
import site
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import torch
from torch import nn
from torch.testing import assert_close


class StaysOnCpu(Exception):
    """The library did not find the device, and said nothing."""


@dataclass(frozen=True)
class Check:
    library: str  # the name of its distribution
    what: str
    needs: str  # what the user writes for the device; empty: nothing
    run: Callable[[], None]


CHECKS: list[Check] = []
Run = Callable[[], None]


def check(library: str, what: str, needs: str = "") -> Callable[[Run], Run]:
    """Add a function to the table; ``needs`` is a line of code or a plug-in."""

    def add(run: Run) -> Run:
        CHECKS.append(Check(library, what, needs, run))
        return run

    return add


def on_device(*things: Any) -> None:
    """Raise if tensors, modules or names of devices are not those of the device."""
    for thing in things:
        first = next(thing.parameters()) if isinstance(thing, nn.Module) else thing
        device = str(getattr(first, "device", first))
        if not device.startswith("openreg"):
            raise StaysOnCpu(device)


def same(compute: Callable[[str], Any]) -> None:
    """Compare what ``compute`` returns for the device and for the CPU."""
    with torch.openreg.fallbacks() as counts:  # type: ignore[attr-defined]
        here = compute("openreg")
    assert not counts, f"falls back: {', '.join(counts)}"
    assert_close(here, compute("cpu"), rtol=1e-4, atol=1e-5)


@contextmanager
def accelerate_device(name: str | None) -> Iterator[None]:
    """Set accelerate's variable, or remove it; forget the device it had."""
    states = importlib.import_module("accelerate.state")

    def forget() -> None:
        states.AcceleratorState._reset_state(reset_partial_state=True)
        states.GradientState._reset_state()

    forget()
    os.environ.pop("ACCELERATE_TORCH_DEVICE", None)
    if name:
        os.environ["ACCELERATE_TORCH_DEVICE"] = name
    try:
        yield
    finally:
        os.environ.pop("ACCELERATE_TORCH_DEVICE", None)
        forget()


def outcome(run: Run) -> str:
    """Return "works", "stays on the CPU", or type and first line of an error."""
    try:
        run()
    except StaysOnCpu:
        return "stays on the CPU"
    except Exception as error:  # whatever it is: the table shows it
        line = next(iter(str(error).strip().splitlines()), "")
        for folder in site.getsitepackages():
            line = line.replace(folder, "...")
        return f"{type(error).__name__}: {re.sub(r'/tmp/[^ ]*/', '', line)}"
    return "works"


def outcomes(library: str) -> dict[str, Any]:
    """Return what the table says about a library, measured now."""
    return {
        "version": version(library),
        "rows": [
            [it.what, it.needs, outcome(it.run)]
            for it in CHECKS
            if it.library == library
        ],
    }

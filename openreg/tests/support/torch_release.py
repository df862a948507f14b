# From which release of torch on a gap is closed; see docs/ship/upgrading.md.
"""Tests of gaps ask here, so they fail where a gap is closed, and where it is back."""

import torch

TORCH = tuple(map(int, torch.__version__.split(".")[:2]))
# LITERALINCLUDE START: CLOSED_IN
NEVER = (3, 0)  # so far
CLOSED_IN = {
    "no stream differs from none": (2, 14),
    "python cannot derive from a c10d backend": (2, 14),
    "communication backends have no entry point": (2, 14),
    "an empty host cache ends the process": (2, 15),
    "inductor has no hook of its own": (2, 15),
    "dlpack compares a name that no device has": NEVER,
    "flex attention has a closed list": NEVER,
    "there is no pool of memory": NEVER,
}


def is_open(gap: str) -> bool:
    """Return whether the installed torch must still have this gap."""
    return CLOSED_IN[gap] > TORCH


# LITERALINCLUDE END: CLOSED_IN
# What torch does in another way since a release, apart from gaps of a backend.
CHANGED_IN = {
    "autocast has the root of a symmetric matrix": (2, 14),
    "clamp takes numbers beyond the dtype": (2, 15),
    "a second import of torch has an error of its own": (2, 15),
}


def has_changed(what: str) -> bool:
    """Return whether the installed torch must do it in the new way."""
    return CHANGED_IN[what] <= TORCH

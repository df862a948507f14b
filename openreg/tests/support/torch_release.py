# From which release of torch on a gap is closed; see docs/ship/upgrading.md.
"""Tests of gaps ask here, so they fail where a gap is closed, and where it is back."""

import pytest
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
# For a test that compares a page, or a table of ours, with the sources of torch.
of_the_pages = pytest.mark.needs(release="2.13")
# What torch does in another way since a release, apart from the gaps above.
# LITERALINCLUDE START: CHANGED_IN
CHANGED_IN = {
    "autocast has the root of a symmetric matrix": (2, 14),
    "a process group without a name uses what is there": (2, 14),
    "monitored_barrier asks for a backend with CPU tensors": (2, 14),
    "RPC asks the device module": (2, 14),
    "symmetric memory has a workspace": (2, 14),
    "collectives have set_timeout": (2, 14),
    "loading sparse tensors warns": (2, 14),
    "torch.xpu lists processes": (2, 14),
    "has_triton asks the device interfaces": (2, 14),
    "each group has its own name": (2, 14),
    "pdist has a second derivative": (2, 14),
    "get_device_module asks no hooks": (2, 14),
    "a checkpoint saves the state of seeds": (2, 14),
    "groups end with their process": (2, 14),
    # LITERALINCLUDE END: CHANGED_IN
    "test classes have a class of hardware": (2, 14),
    "a trace replaces quotes in names": (2, 14),
    "every group checks for NaN": (2, 14),
    "torch records every group": (2, 15),
    "the analysis accepts every library": (2, 15),
    "clamp takes numbers beyond the dtype": (2, 15),
    "setting an element releases the GIL": (2, 15),
    "warnings of operators reach Python": (2, 15),
    "GPU_TYPES asks the device interfaces": (2, 15),
    "a custom device is known by its name": (2, 15),
    "a second import of torch has its own error": (2, 15),
    "tests count accelerators and ask for capabilities": (2, 15),
}


def has_changed(what: str) -> bool:
    """Return whether the installed torch must do it in the new way."""
    return CHANGED_IN[what] <= TORCH

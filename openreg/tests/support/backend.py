# The backend that the tests run on, with all of its names; see docs/start/ladder.md.
"""A portable test takes the device from here, and contains no name of its own.

Two variables of the environment choose another backend for one run, without a change:

    TEST_DEVICE=NAME TEST_STAGE=3 pytest openreg/tests/operators/test_minimal.py

A test that needs more than the backend has is deselected, and the summary names it.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import torch

DEVICE = os.environ.get("TEST_DEVICE", "openreg")
PACKAGE = f"torch_{DEVICE}"
STAGE = int(os.environ.get("TEST_STAGE", "9"))  # of the ladder: the last that works
LARGE = 4  # the first stage of the large backend, which brings streams
# What a device may lack at any stage: a test that needs it says so.
DRIVER = Path(__file__).resolve().parents[2] / "third_party/openreg"
# The driver: its header, what a test links with, and a variable that it reads. Some
# programs hold a kernel back until a later line of theirs.
HEADER = "openreg.h"
LIBRARIES = ["-ltorch_openreg", "-lopenreg"]
ENVIRONMENT = {"OPENREG_LAUNCH_BLOCKING": "0"}


def _testing_of_driver() -> ModuleType:
    spec = spec_from_file_location("testing_of_driver", DRIVER / "testing.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = _testing_of_driver()


def load() -> ModuleType:
    """Import the package of the backend, also where nothing loads it by itself."""
    return import_module(PACKAGE)


def lacks(
    stage: int = 0,
    devices: int = 1,
    capability: str | None = None,
    release: str | None = None,
) -> str:
    """Return what a test needs and the backend has not, or nothing."""
    if stage > STAGE:
        return f"stage {stage}"
    if devices > torch.accelerator.device_count():
        return f"{devices} devices"
    if capability and capability not in driver.CAPABILITIES:
        return capability
    if release and not torch.__version__.startswith(f"{release}."):
        return f"torch {release}"
    return ""

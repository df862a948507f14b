"""Fixtures of the tests of the kernels in OpenCL C."""

import pytest
import torch


@pytest.fixture(autouse=True)
def fallback_counts():
    """Each test starts with no fallbacks counted."""
    torch.ocl.reset_fallback_counts()
    torch.manual_seed(0)

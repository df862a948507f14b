"""Dtypes that CUDA has and the CPU lacks; see docs/reference/operator-coverage.md."""

import pytest
import torch
from sweep.cuda_dtypes import check, pairs, why_not

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:Casting complex")
BY_NAME: dict[str, list[torch.dtype]] = {}
for operator, narrow in pairs():
    BY_NAME.setdefault(operator, []).append(narrow)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_device_has_the_dtypes_of_cuda(name):
    """A pair without a kernel has a reason; the others have the values of the CPU."""
    for dtype in BY_NAME[name]:
        try:
            check(name, dtype)
        except RuntimeError:  # and NotImplementedError, which is one
            assert why_not(name, dtype) is not None
            torch.accelerator.synchronize()  # the device goes on


def test_what_models_were_seen_to_use_is_served():
    for dtype in (torch.uint8, torch.int32, torch.int64):  # routers count tokens
        assert dtype in BY_NAME["histc"]
        assert why_not("histc", dtype) is None

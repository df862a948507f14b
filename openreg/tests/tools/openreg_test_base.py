# What PyTorch's own tests may expect of openreg; see docs/ship/testing.md.
"""Declares the device to PyTorch's tests, by TORCH_TEST_DEVICES=openreg_test_base.py

Torch runs this file with the names of its common_device_type.py, and forbids to import
that module here. Releases before 2.15 do not ask for capabilities.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.testing._internal.common_device_type import (
        PrivateUse1TestBase,
        device_type_test_bases,
    )


# LITERALINCLUDE START: TEST_BASE
class OpenRegTestBase(PrivateUse1TestBase):
    device_type = "openreg"  # (1)

    @classmethod
    def _capabilities(cls) -> dict[str, Callable[[], bool]]:  # (2)
        return {
            "dtype.fp8": lambda: True,
            "dtype.bf16": lambda: True,
            "attention.flash_attention": lambda: False,  # (3)
            "attention.mem_efficient_attention": lambda: True,
        }


TEST_CLASS = OpenRegTestBase  # (4)
others = [base for base in device_type_test_bases if base is not PrivateUse1TestBase]
device_type_test_bases[:] = others  # (5)
# LITERALINCLUDE END: TEST_BASE

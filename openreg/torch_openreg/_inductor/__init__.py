# Registers the device with Inductor; see docs/modules/compile-inductor.md.
"""Imported on the first compilation for the device, never by ``import torch``."""

from typing import Any

import torch._inductor.config
from torch._dynamo.device_interface import register_interface_for_device
from torch._inductor.codegen.common import (
    register_backend_for_device,
    register_device_op_overrides,
)
from torch._inductor.runtime.benchmarking import register_benchmarker

from . import config
from .device import OpenRegDeviceOpOverrides, OpenRegInterface, benchmark
from .triton import choose_scheduling
from .wrapper import OpenRegWrapper

SETTINGS: Any = config  # torch declares a class and takes a module


# VENDOR: what generates your kernels: Triton, or a code generator of your own
# LITERALINCLUDE START: INDUCTOR_REGISTER
def register() -> None:
    """Make ``torch.compile`` generate code for the device.

    To be called again after a change of ``config.backend``.
    """
    register_backend_for_device(  # (1)
        "openreg",
        choose_scheduling(),
        OpenRegWrapper,
        device_custom_config=SETTINGS,  # (2)
    )
    register_device_op_overrides("openreg", OpenRegDeviceOpOverrides())  # (3)
    register_interface_for_device("openreg", OpenRegInterface)  # (4)
    register_benchmarker("openreg", benchmark, override=True)  # (5)
    torch._inductor.config.loop_reindexing_after_fusion = False  # (6)


# LITERALINCLUDE END: INDUCTOR_REGISTER

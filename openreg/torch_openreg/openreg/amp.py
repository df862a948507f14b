# What torch.autocast may use; see docs/modules/amp.md.
"""Automatic mixed precision: the dtypes that the device computes in."""

import torch


# VENDOR: the dtypes that torch.autocast may use on your device
# LITERALINCLUDE START: AMP_DTYPES
def get_amp_supported_dtype() -> list[torch.dtype]:
    """Return the dtypes that ``torch.autocast("openreg", dtype=...)`` accepts.

    Torch calls this for each autocast context of the device, including disabled ones,
    which checkpointing makes. With another dtype it warns and stays off.
    """
    return [torch.float16, torch.bfloat16]


# LITERALINCLUDE END: AMP_DTYPES

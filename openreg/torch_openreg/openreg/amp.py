# What torch.autocast may use; see docs/frontend/random.md.
"""Automatic mixed precision: none yet."""

import torch


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Return the dtypes of ``torch.autocast``: none, so it warns and stays off.

    Torch asks whenever it makes an autocast context for the device, also one that is
    switched off, as checkpointing does.
    """
    return []

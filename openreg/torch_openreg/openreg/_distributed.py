# Registers `occl` with torch.distributed; see docs/modules/distributed.md.
"""The communication backend of openreg tensors."""

from datetime import timedelta
from typing import TYPE_CHECKING

import torch

from torch_openreg import _C

if TYPE_CHECKING:
    from torch._C import _distributed_c10d as c10d


# LITERALINCLUDE START: OCCL_REGISTER
def _make(
    store: "c10d.Store", rank: int, size: int, timeout: timedelta
) -> "c10d.Backend":
    """Return one rank's end of a new group.

    Raises:
        RuntimeError: this torch has no Gloo, or not all ranks came within `timeout`.
    """
    from torch import distributed

    if not distributed.is_gloo_available():
        raise RuntimeError("openreg: occl sends its bytes with Gloo, which is missing")
    own = distributed.PrefixStore("occl", store)  # (1)
    carrier = distributed.ProcessGroupGloo(own, rank, size, timeout=timeout)
    return _C._process_group(carrier)  # (2)


def _register() -> None:
    """Tell ``init_process_group`` who serves the device."""
    if torch.distributed.is_available():
        backends = torch.distributed.Backend
        backends.register_backend("occl", _make, devices=["openreg"])  # (3)


# LITERALINCLUDE END: OCCL_REGISTER

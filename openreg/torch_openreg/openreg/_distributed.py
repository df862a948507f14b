# Registers `occl` with torch.distributed; see docs/modules/distributed.md.
"""The communication backend of openreg tensors."""

from typing import TYPE_CHECKING

import torch

from torch_openreg import _C

if TYPE_CHECKING:
    from torch._C import _distributed_c10d as c10d


# VENDOR: the name of your communication library, and its options
# LITERALINCLUDE START: OCCL_REGISTER
def _make(
    group: "c10d._DistributedBackendOptions", options: "c10d.Backend.Options | None"
) -> "c10d.Backend":
    """Return the process group of this rank for a new group.

    Raises:
        RuntimeError: this torch has no Gloo, or not all ranks came within the timeout.
        TypeError: `options` are given; there are none.
    """
    from torch import distributed

    if options is not None:
        raise TypeError("openreg: occl has no pg_options: pass None")
    if not distributed.is_gloo_available():
        raise RuntimeError("openreg: occl needs Gloo, and this torch has none")
    own = distributed.PrefixStore("occl", group.store)  # (1)
    host = distributed.ProcessGroupGloo(
        own, group.group_rank, group.group_size, timeout=group.timeout
    )
    ranks = group.global_ranks_in_group or list(range(group.group_size))
    host.options.global_ranks_in_group = ranks
    return _C.ProcessGroupOCCL(own, host)  # (2)


def _register() -> None:
    """Register the backend for ``init_process_group``; also an entry point."""
    backends = getattr(torch.distributed, "Backend", None)  # in most builds of torch
    if backends and not hasattr(backends, "OCCL"):  # our import comes first
        backends.register_backend("occl", _make, True, devices=["openreg"])  # (3)


# LITERALINCLUDE END: OCCL_REGISTER


# LITERALINCLUDE START: OCCL_OPTIONS
def _options(
    gloo: "c10d.ProcessGroupGloo.Options",
) -> "c10d.ProcessGroupGloo.Options":
    """Return a copy that `split_group` can copy for a new group; Gloo's own cannot."""

    class Options(torch.distributed.ProcessGroupGloo._Options):  # type: ignore
        def __deepcopy__(self, memo: object) -> "c10d.ProcessGroupGloo.Options":
            return _options(self)

    result = Options()
    for name in ("_timeout", "_devices", "_threads", "global_ranks_in_group"):
        setattr(result, name, getattr(gloo, name))
    return result


# LITERALINCLUDE END: OCCL_OPTIONS

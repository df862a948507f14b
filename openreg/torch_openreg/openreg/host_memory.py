# Statistics of pinned host memory; see docs/runtime/host-memory.md.
"""Statistics of pinned memory, with the names of ``torch.cuda.memory``.

torch can empty this cache for every accelerator, by
``torch.accelerator.empty_host_cache()``, but has no generic query for its statistics.
"""

from typing import Any

from torch_openreg import _C

__all__ = [
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "reset_accumulated_host_memory_stats",
    "reset_peak_host_memory_stats",
]


def host_memory_stats() -> dict[str, Any]:
    """Return the statistics of pinned memory, by names such as ``active_bytes.peak``.

    * ``active_requests``, ``active_bytes``: blocks in use, and their bytes. A freed
      block is in use until its copies are done, and until the allocator next looks.
    * ``allocations``, ``allocated_bytes``: all blocks, also the cached ones. Sizes are
      rounded up to powers of two.
    * ``num_host_alloc``, ``num_host_free``: calls of the driver.
    * ``host_alloc_time``, ``host_free_time``: their time in microseconds.

    The first four have ``current``, ``peak``, ``allocated`` and ``freed``; times have
    ``total``, ``max``, ``min``, ``count`` and ``avg``.
    """
    stats: dict[str, Any] = {}
    for name, value in sorted(host_memory_stats_as_nested_dict().items()):
        if isinstance(value, dict):
            stats |= {f"{name}.{metric}": value[metric] for metric in sorted(value)}
        else:
            stats[name] = value
    return stats


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """Return what :func:`host_memory_stats` does, as a dictionary of dictionaries."""
    return _C._host_memory_stats()


def reset_accumulated_host_memory_stats() -> None:
    """Start the counts of ``allocated`` and ``freed``, and of times, at zero again."""
    _C._reset_accumulated_host_memory_stats()


def reset_peak_host_memory_stats() -> None:
    """Let every ``peak`` start at its ``current`` value again."""
    _C._reset_peak_host_memory_stats()

# Numbers, limits and pictures of device memory; see docs/runtime/memory.md.
"""Device memory: what is used, what may be used, and who uses it.

The names and signatures are those of ``torch.xpu.memory``. Sizes are in bytes. Every
``device`` may be an index, a string or a ``torch.device``; by default it is the current
device. A device of another type raises ValueError, and one that does not exist
torch.AcceleratorError.
"""

import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch._utils import _augment_memory_snapshot_stack_traces

from torch_openreg import _C

from ._contexts import reentrant
from ._utils import Device as _Device
from ._utils import (
    _external_stream,
    _get_current_index,
    _get_device_index,
    _integer,
)
from .host_memory import (
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)

__all__ = [
    "MemPool",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "empty_cache",
    "get_per_process_memory_fraction",
    "graph_pool_handle",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]


def empty_cache() -> None:
    """Return every completely free segment to the driver.

    Waits for the device without the GIL, unlike ``torch.accelerator.empty_cache()``.
    Does nothing while memory is being allocated to a private pool.
    """
    _C._empty_cache()


def memory_stats(device: _Device | None = None) -> "OrderedDict[str, Any]":
    """Return all counters of a device, sorted by name.

    They are those of ``torch.accelerator.memory_stats()``, and for each private pool
    ``reserved_bytes_by_private_pools.<id>.<pool>.{current,peak,allocated,freed}``, with
    an ``id`` such as ``0_1``, where <pool> is one of ``{all,large_pool,small_pool}``.
    The counters of a pool that is gone stay until a reset.
    """
    index = _get_device_index(device)
    stats = torch.accelerator.memory_stats(index)
    for (first, second), lines in _private_pools(index).items():
        prefix = f"reserved_bytes_by_private_pools.{first}_{second}"
        for line, counters in lines.items():
            for name, value in counters.items():
                stats[f"{prefix}.{line}.{name}"] = value
    return OrderedDict(sorted(stats.items()))


def memory_stats_as_nested_dict(device: _Device | None = None) -> dict[str, Any]:
    """Return ``memory_stats()`` as a dictionary of dictionaries.

    Those of ``reserved_bytes_by_private_pools`` have ``MemPool.id`` as their key.
    """
    index = _get_device_index(device)
    if not torch._C._accelerator_isAllocatorInitialized():  # in a forked child
        return {}
    stats: dict[str, Any] = torch._C._accelerator_getDeviceStats(index)
    stats["reserved_bytes_by_private_pools"] = _private_pools(index)
    return stats


def _private_pools(index: int) -> dict[tuple[int, int], dict[str, dict[str, int]]]:
    if not torch._C._accelerator_isAllocatorInitialized():
        return {}
    names = ("current", "peak", "allocated", "freed")
    return {
        pool: {
            line: dict(zip(names, counters, strict=True))
            for line, counters in zip(
                ("all", "small_pool", "large_pool"), lines, strict=True
            )
        }
        for pool, lines in sorted(_C._private_pool_bytes(index).items())
    }


def _bytes(device: _Device | None) -> list[int]:
    """Return allocated, peak allocated, reserved and peak reserved bytes.

    Torch's functions for one of them make a dictionary of all 80 counters first.
    """
    index = _get_device_index(device)
    if not torch._C._accelerator_isAllocatorInitialized():
        return [0, 0, 0, 0]
    return _C._memory_bytes(index)


def memory_allocated(device: _Device | None = None) -> int:
    """Return the bytes of all blocks in use: multiples of 512, 0 before the first."""
    return _bytes(device)[0]


def max_memory_allocated(device: _Device | None = None) -> int:
    """Return the most bytes that blocks used since the last reset of the peaks."""
    return _bytes(device)[1]


def memory_reserved(device: _Device | None = None) -> int:
    """Return the bytes of all segments that the driver has allocated."""
    return _bytes(device)[2]


def max_memory_reserved(device: _Device | None = None) -> int:
    """Return the most bytes of segments since the last reset of the peaks."""
    return _bytes(device)[3]


def reset_peak_memory_stats(device: _Device | None = None) -> None:
    """Reset the peaks to the current values."""
    torch.accelerator.reset_peak_memory_stats(_get_device_index(device))


def reset_accumulated_memory_stats(device: _Device | None = None) -> None:
    """Reset the totals ("allocated", "freed") and the event counters to 0."""
    torch.accelerator.reset_accumulated_memory_stats(_get_device_index(device))


def mem_get_info(device: _Device | None = None) -> tuple[int, int]:
    """Return the free and total bytes of a device, where the driver counts all users.

    Bytes in the cache of the allocator are not free.
    """
    return torch.accelerator.get_memory_info(_get_device_index(device))


def set_per_process_memory_fraction(
    fraction: float, device: _Device | None = None
) -> None:
    """Limit what this process may reserve to a share of the device's memory.

    A request above the limit raises torch.OutOfMemoryError.

    Args:
        fraction: from 0.0 to 1.0; 1.0 at first.
        device: whose memory.

    Raises:
        TypeError: the fraction is not a float.
        ValueError: it is not from 0 to 1.
    """
    if not isinstance(fraction, float):
        raise TypeError(f"openreg: the memory fraction is {fraction!r}, not a float")
    _C._set_memory_fraction(fraction, _get_device_index(device))


def get_per_process_memory_fraction(device: _Device | None = None) -> float:
    """Return the share that this process may reserve, from 0.0 to 1.0."""
    return _C._memory_fraction(_get_device_index(device))


def caching_allocator_alloc(
    size: int,
    device: _Device | None = None,
    stream: torch.Stream | int | None = None,
) -> int:
    """Return the address of new memory, for libraries that are not built on torch.

    Args:
        size: in bytes, more than 0.
        device: where.
        stream: on which the memory is used, or its handle; by default, the device's
            current one.

    Raises:
        torch.OutOfMemoryError: there is not enough.
        TypeError: the size is not an int, or the stream is neither a stream nor an int.
        ValueError: the size is not from 1 to 2**63 - 1, or the stream is on another
            device.
        torch.AcceleratorError: the handle is not that of a live stream.
    """
    size = _integer(size, "the size")
    if not 0 < size < 2**63:
        raise ValueError(f"openreg: cannot allocate {size} bytes")
    index = _get_current_index(device)
    if stream is None:
        stream = torch.accelerator.current_stream(index)
    if isinstance(stream, torch.Stream):
        if stream.device != torch.device("openreg", index):
            raise ValueError(f"openreg: {stream} is not a stream of device {index}")
        stream = stream.stream_id
    with torch.accelerator.device_index(index), _external_stream(stream, index):
        return _C._caching_allocator_alloc(size)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Free memory from ``caching_allocator_alloc``.

    Raises:
        RuntimeError: the address is not one of memory in use.
        TypeError: it is not an int.
        ValueError: it is not from 0 to 2**64 - 1.
    """
    address = _integer(mem_ptr, "the address")
    if not 0 <= address < 2**64:
        raise ValueError(f"openreg: {address} is not an address of memory")
    _C._caching_allocator_delete(address)


class MemPool:
    """A pool of the current device's memory that only ``use_mem_pool`` draws from.

    Its memory goes back to the driver when the pool and the tensors in it are gone.
    """

    def __init__(self) -> None:
        device, identity = _C._current_device(), _C._new_memory_pool()
        _C._retain_memory_pool(device, identity)
        self.id: tuple[int, int] = identity
        self.device = device  # the last: __del__ reads it as "the pool exists"

    def __del__(self) -> None:
        # Python also deletes an object whose __init__ failed. At exit nothing is left
        # to call, and the memory needs no release.
        if hasattr(self, "device") and not sys.is_finalizing():
            _C._release_memory_pool(self.device, self.id)
            _C._empty_cache(self.id)

    def snapshot(self) -> list[dict[str, Any]]:
        """Return the segments of this pool, as ``memory_snapshot()``."""
        return memory_snapshot(self.id)


def graph_pool_handle() -> tuple[int, int]:
    """Return the name of a new pool, for graphs that share their memory.

    Pass it to each graph: ``torch.accelerator.Graph(pool=handle)``. The pool exists as
    long as one of these graphs does.
    """
    return _C._new_memory_pool()


@reentrant
def use_mem_pool(pool: MemPool, device: _Device | None = None) -> Iterator[None]:
    """Within the context this thread allocates from the pool, on one device.

    While any thread is in such a context, the device releases no memory, and memory
    that other streams use is not reused.

    Args:
        pool: what to allocate from.
        device: the device of the pool by default.
    """
    index = pool.device if device is None else _get_device_index(device)
    _C._begin_allocate_to_pool(index, pool.id)
    try:
        yield
    finally:
        _C._end_allocate_to_pool(index, pool.id)
        _C._release_memory_pool(index, pool.id)


def memory_snapshot(mempool_id: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """Return all segments of all devices with their blocks, or those of one pool.

    A segment is a dictionary with ``device``, ``address``, ``stream``, ``blocks`` and
    sizes in bytes; a block has ``address``, ``size``, ``requested_size`` and ``state``.

    Args:
        mempool_id: the ``id`` of a :class:`MemPool`, or a :func:`graph_pool_handle`.
    """
    segments = cast("list[dict[str, Any]]", _C._memory_snapshot()["segments"])
    if mempool_id is None:
        return segments
    return [s for s in segments if s["segment_pool_id"] == tuple(mempool_id)]


def _snapshot(
    device: _Device | None = None, augment_with_fx_traces: bool = False
) -> dict[str, Any]:
    """Return segments and history in the form that torch's memory_viz reads.

    Args:
        device: has no effect; the names are torch's.
        augment_with_fx_traces: also include the model lines behind generated code.
    """
    snapshot = _C._memory_snapshot()
    snapshot["allocator_settings"] = {
        "PYTORCH_ALLOC_CONF": torch._C._accelerator_getAllocatorSettings()
    }
    snapshot["external_annotations"] = []
    if augment_with_fx_traces:
        _augment_memory_snapshot_stack_traces(snapshot)  # type: ignore[arg-type]
    return snapshot


def _dump_snapshot(
    filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False
) -> None:
    """Write a pickled ``_snapshot()`` to a file, for ``torch.cuda._memory_viz``."""
    snapshot = _snapshot(augment_with_fx_traces=augment_with_fx_traces)
    Path(filename).write_bytes(pickle.dumps(snapshot))


def _record_memory_history(
    enabled: Literal["state", "all"] | None = "all",
    context: Literal["state", "alloc", "all"] | None = "all",
    stacks: Literal["python", "all"] = "all",
    max_entries: int = sys.maxsize,
    clear_history: bool = False,
    skip_actions: list[str] | None = None,
) -> None:
    """Start, change or stop the recording of allocations and frees.

    Args:
        enabled: ``"all"`` keeps a history; ``"state"`` only who allocated what is in
            use; ``None`` stops.
        context: record the stack for memory in use (``"state"``), also in the history
            of allocations (``"alloc"``), also for frees (``"all"``), or never.
        stacks: of Python only, or of C++ as well, which is slow to look up.
        max_entries: keep that many of the latest entries of the history.
        clear_history: drop the current history.
        skip_actions: actions that are not recorded, such as ``"free_requested"``.

    Raises:
        RuntimeError: an argument has none of these values, or torch does not know an
            action in ``skip_actions``; nothing has changed.
        ValueError: ``max_entries`` is less than 1.
    """
    levels = {None: 0, "state": 1, "alloc": 2, "all": 3}
    if enabled not in (None, "state", "all"):
        raise RuntimeError(
            f"expected state to be 'state', 'all', or None, not {enabled!r}"
        )
    if context not in levels:
        raise RuntimeError(
            f"expected context to be 'state', 'alloc', 'all', or None, not {context!r}"
        )
    if stacks not in ("python", "all"):
        raise RuntimeError(f"expected stacks to be 'python', or 'all', not {stacks!r}")
    if max_entries < 1:
        raise ValueError(f"openreg: max_entries is {max_entries}: expected 1 or more")
    _C._record_memory_history(
        enabled is not None,
        enabled == "all",
        levels[context],
        stacks == "all",
        max_entries,
        clear_history,
        skip_actions or [],
    )


def memory_summary(device: _Device | None = None, abbreviated: bool = False) -> str:
    """Return the counters of a device as a readable table.

    Args:
        device: which.
        abbreviated: without the lines of the two pools.
    """
    index = _get_device_index(device)
    stats = memory_stats(index)
    pools = ["all"] if abbreviated else ["all", "large_pool", "small_pool"]
    columns = ("current", "peak", "allocated", "freed")
    lines = [
        f"Memory of openreg:{index}",
        f"out of memory: {stats['num_ooms']}, retries: {stats['num_alloc_retries']}, "
        f"segments taken: {stats['num_device_alloc']}, "
        f"released: {stats['num_device_free']}",
        "{:34}{:>11}{:>11}{:>11}{:>11}".format("", *columns),
    ]
    for metric in _METRICS:
        for pool in pools:
            values = [stats[f"{metric}.{pool}.{column}"] for column in columns]
            show = _readable if "bytes" in metric else str
            name = metric if pool == "all" else f"  {pool}"
            lines.append(f"{name:34}" + "".join(f"{show(v):>11}" for v in values))
    return "\n".join(lines) + "\n"


_METRICS = (
    "allocated_bytes",
    "active_bytes",
    "requested_bytes",
    "reserved_bytes",
    "inactive_split_bytes",
    "allocation",
    "active",
    "segment",
    "inactive_split",
)


def _readable(size: float) -> str:
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{size:.0f} B" if units[0] == "B" else f"{size:.1f} {units[0]}"

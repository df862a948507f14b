# Writes what each rank did last for torch's analysis; see
# docs/modules/distributed-debugging.md.
"""The last operations of all `occl` groups of this process."""

import math
import pickle
from pathlib import Path
from typing import Any

import torch

from torch_openreg import _C

VERSION = "2.10"  # of torch's format, which the keys of an entry follow
# LITERALINCLUDE START: RECORDER_NAMES
# The analysis compares sizes by names: those of ProcessGroupNCCL.
NAMES = {
    "all_gather_into_tensor": "_all_gather_base",
    "reduce_scatter_tensor": "_reduce_scatter_base",
    "all_gather_coalesced": "ALLGATHER_coalesced",
    "all_to_all_single": "all_to_all",  # its parts may differ
}
LIBRARY = "nccl"  # before torch 2.15, the analysis rejects other names


def _profiling_name(entry: dict[str, Any]) -> str:
    name = entry["name"].removeprefix("occl::")
    arrow = {"send": "->", "recv": "<-"}.get(name)
    ends = f" {entry['rank']}{arrow}{entry['peer']}" if arrow else ""
    return f"{LIBRARY}:{NAMES.get(name, name)}{ends}"


# LITERALINCLUDE END: RECORDER_NAMES


def _as_one(sizes: list[list[int]]) -> list[list[int]]:
    """Return the size of a list, one tensor for each rank, as that of one tensor."""
    return [[sum(map(math.prod, sizes))]]


def entries() -> list[dict[str, Any]]:
    """Return the last operations of this process, the oldest first.

    The environment variable ``TORCH_FR_BUFFER_SIZE`` sets how many are kept: 2000, or
    0 for none.
    """
    result = []
    for entry in _C._flight_recorder_entries():
        entry["profiling_name"] = _profiling_name(entry)
        if entry["name"] == "occl::all_gather":
            entry["output_sizes"] = _as_one(entry["output_sizes"])
        if entry["name"] == "occl::reduce_scatter":
            entry["input_sizes"] = _as_one(entry["input_sizes"])
        result.append(entry)
    return result


def dump(prefix: str | Path) -> Path:
    """Write the last operations, for ``torchfrtrace``.

    Any thread may call it, also while others wait for a collective.

    Args:
        prefix: of the file's name; the rank of this process follows. All ranks write
            into one folder.

    Returns:
        The file.
    """
    recorded = entries()
    groups = {
        entry["process_group"][0]: {
            "name": entry["process_group"][0],
            "desc": entry["process_group"][1],
            "ranks": str(entry["ranks"]),
        }
        for entry in recorded
    }
    file = Path(f"{prefix}{torch.distributed.get_rank()}")
    content = {"version": VERSION, "pg_config": groups, "entries": recorded}
    file.write_bytes(pickle.dumps(content))
    return file

# What torch's analysis finds in the dumps of ranks; see
# docs/modules/distributed-debugging.md.
"""The flight recorder writes a file for each rank; torch's script compares them."""

import pickle
from pathlib import Path
from typing import Any

from torch.distributed.flight_recorder.fr_trace import main
from torch_openreg.openreg import flight_recorder


def dump(state: dict[str, Any], folder: str) -> str:
    """Write what this rank has recorded; a function for ranks."""
    return str(flight_recorder.dump(f"{folder}/rank_"))


def entries(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what this rank has recorded; ranks may run it."""
    return flight_recorder.entries()


def analyzed(folder: Path, *options: str) -> list[Any]:
    """Return the collectives that torch's analysis found, the oldest first."""
    file = folder.with_suffix(".db")
    main([str(folder), "--prefix", "rank_", "-o", str(file), *options])
    _, database = pickle.loads(file.read_bytes())
    return list(database.collectives)

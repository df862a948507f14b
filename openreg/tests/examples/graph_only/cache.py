# Compiled graphs in memory and on disk; see docs/modules/graph-only.md.
"""A compilation takes milliseconds here, and seconds to minutes for a real chip."""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import torch

from .binary import Binary
from .chip import TOY


# LITERALINCLUDE START: GRAPH_ONLY_CACHE
class GraphCache:
    """The binaries that were used last, at most ``capacity``; more of them on disk."""

    def __init__(self, capacity: int = 256, folder: str | Path | None = None) -> None:
        self.capacity, self.folder = capacity, Path(folder) if folder else None
        self.evictions = 0
        self._binaries: OrderedDict[str, Binary] = OrderedDict()

    def get(self, key: str, build: Callable[[], Binary]) -> Binary:
        """Return a binary from memory, from the folder, or a new one."""
        key = hashlib.sha256(f"{torch.__version__} {TOY} {key}".encode()).hexdigest()
        if key not in self._binaries:
            self._keep(key, self._read(key) or self._write(key, build()))
        self._binaries.move_to_end(key)
        return self._binaries[key]

    def _keep(self, key: str, binary: Binary) -> None:
        self._binaries[key] = binary
        if len(self._binaries) > self.capacity:
            self._binaries.popitem(last=False)
            self.evictions += 1

    # LITERALINCLUDE END: GRAPH_ONLY_CACHE

    def __len__(self) -> int:
        return len(self._binaries)

    def warm(self) -> int:
        """Load the newest files of the folder; return how many."""
        files = sorted(self.folder.glob("*.json"), key=_age) if self.folder else []
        for path in files[-self.capacity :]:
            self._keep(path.stem, Binary.loads(path.read_text()))
        return len(files[-self.capacity :])

    def prune(self, files: int) -> None:
        """Remove all but the newest files of the folder."""
        if self.folder:
            ordered = sorted(self.folder.glob("*.json"), key=_age)
            for path in ordered[: max(0, len(ordered) - files)]:
                path.unlink(missing_ok=True)

    def _read(self, key: str) -> Binary | None:
        path = self.folder / f"{key}.json" if self.folder else None
        return Binary.loads(path.read_text()) if path and path.exists() else None

    def _write(self, key: str, binary: Binary) -> Binary:
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Renamed when complete: another process may read the folder now.
            part = self.folder / f"{key}.{os.getpid()}"
            part.write_text(binary.dumps())
            part.replace(self.folder / f"{key}.json")
        return binary


def _age(path: Path) -> float:
    return path.stat().st_mtime

# Ranks that are threads of one process; see docs/modules/distributed.md.
"""Torch's groups are one for each process, so these are made without them.

Each rank has its own store client, as it would in a separate process.
"""

import datetime
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch_openreg
from patience import PATIENCE
from ranks import GROUP_SECONDS

DEVICE = "openreg"


def store_of(folder: Path, size: int) -> dist.Store:
    """Return its own store client."""
    return dist.PrefixStore("occl", dist.FileStore(str(folder / "store"), size))


def gloo_group(folder: Path, rank: int, size: int = 2) -> dist.ProcessGroupGloo:
    """Return one rank's end of a Gloo group; waits for the others."""
    seconds = datetime.timedelta(seconds=GROUP_SECONDS)
    return dist.ProcessGroupGloo(store_of(folder, size), rank, size, seconds)


def occl(folder: Path, gloo: dist.ProcessGroupGloo) -> dist.Backend:
    """Return one rank's end of a group beside a Gloo group; waits for the others."""
    return torch_openreg._C.ProcessGroupOCCL(store_of(folder, gloo.size()), gloo)


def join(folder: Path, rank: int, size: int = 2) -> dist.Backend:
    """Return one rank's end of a group; waits for the others."""
    return occl(folder, gloo_group(folder, rank, size))


class Thread(threading.Thread):
    """A thread whose result, or exception, its starter gets."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        super().__init__(daemon=True)
        self._call, self._arguments = call, arguments
        self._result: Any = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            # Of its own: on a shared stream, one rank would wait for the other's wait.
            with torch.Stream(DEVICE):
                self._result = self._call(*self._arguments)
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        self.join(PATIENCE)
        assert not self.is_alive(), "the thread hangs"
        if self._error is not None:
            raise self._error
        result, self._result = self._result, None  # the caller's alone
        return result


def on_all(*calls: Callable[[], Any]) -> list[Any]:
    """Return what the calls return, each made on its own thread."""
    return [thread.result() for thread in [Thread(call) for call in calls]]


def tensor(value: float = 1, count: int = 2) -> torch.Tensor:
    return torch.full((count,), float(value), device=DEVICE)

# The processes of a group, each with a rank; see docs/modules/distributed.md.
"""Tests of collectives need several processes that do the same at the same time."""

import ctypes
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch_openreg
from patience import PATIENCE
from peer import Peer, PeerError

# Shorter than the wait for an answer: the error of the group says more.
GROUP_SECONDS = PATIENCE / 2


def join(state: dict[str, Any], *arguments: Any) -> None:
    """Become a rank of the default group."""
    file, rank, size, backend, seconds, options = arguments
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group(
        backend,
        init_method=f"file://{file}",
        rank=rank,
        world_size=size,
        timeout=datetime.timedelta(seconds=seconds),
        **options,
    )


def reset(state: dict[str, Any]) -> None:
    """Forget the fault of device 0."""
    library = Path(torch_openreg.__file__).parent / "lib/libopenreg.so"
    assert ctypes.CDLL(str(library)).orDeviceReset() in (0, 719)
    torch.openreg.synchronize()


def message(call: Callable[[], object]) -> str | None:
    """Return type and text of what ``call`` raises, now or at the next wait."""
    try:
        call()
        torch.openreg.synchronize()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


class Ranks:
    """Processes 0 to ``size - 1`` of a group."""

    def __init__(
        self,
        size: int,
        folder: Path,
        backend: str | None = None,
        seconds: float = GROUP_SECONDS,
        **options: Any,
    ) -> None:
        variables = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        self.peers = [Peer(**variables) for _ in range(size)]
        file = folder / "store"
        for rank, peer in enumerate(self.peers):
            peer.start(join, str(file), rank, size, backend, seconds, options)
        assert self.answers() == [None] * size

    def answers(self) -> list[Any]:
        """Return what each rank answers, or the text of what it raises."""
        result: list[Any] = []
        for peer in self.peers:
            try:
                result.append(peer.answer())
            except (PeerError, AssertionError, EOFError) as error:
                result.append(str(error) or type(error).__name__)
        return result

    def run(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what ``function(state, *arguments)`` returns on each rank."""
        for peer in self.peers:
            peer.start(function, *arguments)
        return self.answers()

    def close(self) -> None:
        """End all processes, those that wait for another rank by force."""
        for peer in self.peers:
            peer.cut()
        for peer in self.peers:
            peer.close(1)

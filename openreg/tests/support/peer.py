# A second process that does what a test asks; see docs/frontend/multiprocessing.md.
"""Tests of shared memory need another process, one that can be killed at any moment."""

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch.multiprocessing
from patience import PATIENCE

# Imported once, by the server of processes. Sharding takes each process 6 seconds.
PRELOAD = [
    *("torch", "pytest", "torch.distributed.checkpoint.state_dict"),
    *("torch.distributed.fsdp", "torch.distributed.pipelining"),
    *("torch.distributed.tensor.experimental", "torch.distributed.tensor.parallel"),
]


def _serve(line: Connection, environment: dict[str, str]) -> None:
    """Run functions until the line is cut. What they keep goes into one dictionary."""
    os.environ.clear()  # what was set after the server of processes had started
    os.environ.update(environment)
    state: dict[str, Any] = {}
    while True:
        try:
            message = line.recv_bytes()
        except EOFError:
            return
        try:
            function, arguments = ForkingPickler.loads(message)
            answer = ForkingPickler.dumps((True, function(state, *arguments)))
        except Exception as error:
            answer = ForkingPickler.dumps((False, f"{type(error).__name__}: {error}"))
        function = arguments = None  # what was received lives on in `state` only
        line.send_bytes(answer)


class PeerError(Exception):
    """The function raised; the text is the type and the message."""


class Peer:
    """A process that runs functions of a module, each with a dictionary it may keep.

    Its environment is the one of now, with the variables that are given.
    """

    def __init__(self, **variables: str) -> None:
        # A server that has imported torch, but not used the device, forks a process in
        # milliseconds. To spawn one takes seconds.
        context = torch.multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOAD)
        self._line, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, {**os.environ, **variables}), daemon=True
        )
        self.process.start()
        theirs.close()

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what ``function(state, *arguments)`` returns over there.

        Raises:
            PeerError: it raised.
        """
        self.start(function, *arguments)
        return self.answer()

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let the other process begin with ``function(state, *arguments)``."""
        self._line.send((function, arguments))

    def answer(self) -> Any:
        """Return the next answer."""
        if not self._line.poll(PATIENCE):
            self.kill()
            raise AssertionError(f"no answer in {PATIENCE} seconds: the process hangs")
        good, value = self._line.recv()
        if not good:
            raise PeerError(value)
        return value

    def kill(self) -> None:
        """End the process without letting it clean up, and wait until it is gone."""
        self.process.kill()
        self.process.join(PATIENCE)

    def cut(self) -> None:
        """Let the process end by itself after what it does now."""
        self._line.close()

    def close(self, seconds: float = 10) -> None:
        """Let the process end by itself in ``seconds``, or else kill it."""
        self.cut()
        self.process.join(seconds)
        self.kill()

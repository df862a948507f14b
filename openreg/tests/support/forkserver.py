# Starts programs from a process that has imported torch; see docs/start/quickstart.md.
"""A new interpreter needs seconds for ``import torch``, a fork of one milliseconds.

What a program cannot see: whether it is a fork. What differs: torch is there before its
first line, and variables of the environment that torch, OpenMP or Python read when they
start have no effect. A test of these takes a new interpreter.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from patience import PATIENCE


def run_new(program: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program in a new interpreter with this environment."""
    return subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=env,
    )


# The main module of a forked program must be as empty as that of `python -c`.
MAIN = """
import sys
sys.path.insert(0, {folder!r})
from forkserver import serve
del sys.path[0]
program = serve(int(sys.argv.pop()))
del sys, serve
exec(globals().pop("program"))
"""


def serve(line: int) -> str:
    """Fork a process for each request; return, in that process, its program."""
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    import torch

    gc.freeze()  # else a fork copies all of torch when it collects garbage at its end
    requests = socket.socket(fileno=line)
    while True:
        message, (*files,), _, _ = socket.recv_fds(requests, 1 << 17, 2)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            break
        requests.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        requests.send(str(os.waitstatus_to_exitcode(status)).encode())
        for file in files:
            os.close(file)
    requests.close()
    for number, file in enumerate(files, 1):
        os.dup2(file, number)
        os.close(file)
    request = json.loads(message)
    os.environ.clear()
    os.environ.update(request["env"])
    if torch._is_device_backend_autoload_enabled():
        torch._import_device_backends()
    return request["program"]


class ForkServer:
    """The process that has imported torch. It forks one program at a time."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.settimeout(PATIENCE)
        with theirs:
            main = MAIN.format(folder=str(Path(__file__).parent))
            self._process = subprocess.Popen(
                # -P: the sources in this folder are not the package.
                [sys.executable, "-P", "-c", main, str(theirs.fileno())],
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(
        self, program: str, env: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a program; return its status and what it printed."""
        request = {"program": textwrap.dedent(program), "env": env}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            message = json.dumps(request).encode()
            socket.send_fds(self._line, [message], [out.fileno(), err.fileno()])
            child = int(self._line.recv(99))
            try:
                status = int(self._line.recv(99))
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                self._line.recv(99)
                raise subprocess.TimeoutExpired(program, PATIENCE) from None
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        return subprocess.CompletedProcess(["python", "-c", program], status, *texts)

    def close(self) -> None:
        """End the process."""
        self._line.close()
        self._process.wait(PATIENCE)

"""A Python that has imported torch already; pages of the guide run in copies of it.

Explained in CONTRIBUTING.md, "Writing a chapter". Importing torch takes longer than
most examples. So `run_pages.py` starts `warm_server.py` once, which forks a copy for
each page, and for each `python -c`, `-m` or FILE of a page. A small `python`, first on
the PATH and `sys.executable`, asks for a copy.

What a fork cannot do runs in the real Python: options but -u, which is set for pages,
environment variables that Python or torch read when they start, open files to inherit,
a program that uses ctypes, which may want its library to be loaded before torch.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).with_name("warm_server.py")
# Read by Python, by the linker, or while torch is imported; OPENREG_ is not.
EARLY = (
    "PYTHON",
    "LD_",
    "OMP_",
    "MKL_",
    "KMP_",
    "TORCH_",
    "PYTORCH_",
    "ATEN_",
    "GLIBC",
)
# Of the first, a copy makes `sys.path`; the others are read after the import.
NOT_EARLY = {
    "PYTHONPATH",
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
    "TORCH_DIST_NAN_CHECK",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",  # torch.distributed.run sets it
}
LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "STACK")

# The small `python`. It stays until its copy has ended, and ends as that did.
ASK = """#!{python} -IS
import os, resource, signal, socket, sys
line, real = {line!r}, {python!r}
argv, env = sys.argv[1:], dict(os.environ)
if argv[:1] == ["-u"] and "PYTHONUNBUFFERED" in env:
    argv = argv[1:]
early = {{k: v for k, v in env.items() if k.startswith({early!r})}}
for name in {late!r}:
    early.pop(name, None)
if env.get("OMP_NUM_THREADS") == "1":  # also by torch.distributed.run
    early.pop("OMP_NUM_THREADS")
files = [f for f in os.listdir("/proc/self/fd") if int(f) > 2]
code = argv[1] if argv[:1] in (["-c"], ["-m"]) and len(argv) > 1 else ""
if argv and os.path.isfile(argv[0]):
    code = open(argv[0], errors="replace").read()
if not code or "ctypes" in code or early != {known!r} or len(files) > 1:
    os.execv(real, [real, *argv])
limits = {{n: resource.getrlimit(getattr(resource, "RLIMIT_" + n)) for n in {limits!r}}}
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect(line)
server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
message = repr(([sys.argv[0], *argv], env, os.getcwd(), limits)).encode()
socket.send_fds(server, [message], [0, 1, 2])
child = int(server.recv(64))
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(child, number))
status = int(server.recv(64))
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status not in (9, 19) else None
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def early_settings(env: dict[str, str]) -> dict[str, str]:
    """The variables that a copy cannot have other than its origin."""
    return {
        key: value
        for key, value in env.items()
        if key.startswith(EARLY) and key not in NOT_EARLY
    }


class WarmPython:
    """Starts the process that forks; `environment` lets others find it."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._line = str(folder / "line")
        self._bin = folder / "bin"
        self._bin.mkdir()
        text = ASK.format(
            python=sys.executable,
            line=self._line,
            early=EARLY,
            late=NOT_EARLY,
            known=early_settings(env),
            limits=LIMITS,
        )
        for name in ("python", "python3"):
            program = self._bin / name
            program.write_text(text)
            program.chmod(0o755)
        self.env = {**env, "PATH": f"{self._bin}{os.pathsep}{env['PATH']}"}
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(self._line)
        listener.listen(64)
        with listener:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(listener.fileno())],
                env={**env, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
                stdin=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
            )

    @property
    def python(self) -> str:
        """The path of the small `python`."""
        return str(self._bin / "python")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

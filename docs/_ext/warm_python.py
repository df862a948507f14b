"""A Python that has imported torch already; pages of the guide run in copies of it.

Explained in CONTRIBUTING.md, "Writing a chapter". Importing torch takes longer than
most examples. So `run_pages.py` starts this file once: it imports torch without a
backend and forks a copy for each page, and for each `python -c`, `-m` or FILE of a
page. A small `python`, first on the PATH and `sys.executable`, asks for a copy. This
seems to be new: torch is not in `sys.modules`, and `import torch` loads the backends,
as always.

What a fork cannot do runs in the real Python: other options, environment variables that
Python or torch read when they start, open files to inherit, a program that uses ctypes,
which may want its library to be loaded before torch.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.machinery
import os
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
# The first is read at the end of `import torch`; of the other, a copy makes `sys.path`.
NOT_EARLY = {"TORCH_DEVICE_BACKEND_AUTOLOAD", "PYTHONPATH"}
LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "STACK")

# The small `python`. It stays until its copy has ended, and ends as that did.
ASK = """#!{python} -IS
import os, resource, signal, socket, sys
line, real = {line!r}, {python!r}
argv, env = sys.argv[1:], dict(os.environ)
early = {{k: v for k, v in env.items() if k.startswith({early!r})}}
for name in {late!r}:
    early.pop(name, None)
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
message = repr((sys.argv, env, os.getcwd(), limits)).encode()
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
                [sys.executable, __file__, str(listener.fileno())],
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


# -- in the process that forks --


class Torch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives torch, which was imported before the fork, when it is imported."""

    def __init__(self, before: set[str]) -> None:
        names = [name for name in sys.modules if name not in before]
        self._kept = {name: sys.modules.pop(name) for name in names}

    def forget(self, name: str) -> None:
        """Let this module be read anew: it is the program."""
        self._kept.pop(name, None)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self._kept:
            return None
        made = self._kept[name].__spec__  # builds read from it where torch is
        origin = made.origin if made is not None else None
        return importlib.machinery.ModuleSpec(name, self, origin=origin)

    def create_module(self, spec: Any) -> types.ModuleType:
        return self._kept[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """The module ran before the fork. With torch, all that it imported is back."""
        torch = self._kept["torch"]
        if module is torch:
            sys.meta_path.remove(self)
            for name, kept in self._kept.items():
                sys.modules.setdefault(name, kept)
            if torch._is_device_backend_autoload_enabled():
                torch._import_device_backends()


def serve(number: int) -> tuple[list[str], set[str]]:
    """Fork a copy for each request; return, in that copy, its arguments."""
    before = set(sys.modules)
    import torch  # noqa: F401

    gc.freeze()  # else a copy touches all of torch when it collects garbage at its end
    listener = socket.socket(fileno=number)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one reaps the monitors
    while True:
        asker, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _become(asker), before
        asker.close()


def _become(asker: socket.socket) -> list[str]:
    """In a monitor: fork the copy, and tell the asker how it ended."""
    message, files, _, _ = socket.recv_fds(asker, 1 << 20, 3)
    argv, env, folder, limits = eval(message)  # literals, from the program above
    child = os.fork()
    if child:
        for file in (0, 1, 2, *files):
            os.close(file)
        asker.send(str(child).encode())
        _watch(child, asker)
    asker.close()
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    left = search_path(os.environ)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    rest = [entry for entry in sys.path[1:] if entry not in left]
    sys.path[1:] = [*search_path(os.environ), *rest]
    for name, limit in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), limit)
    return list(argv)


def search_path(env: Mapping[str, str]) -> list[str]:
    """What PYTHONPATH adds to `sys.path`."""
    entries = env.get("PYTHONPATH", "")
    return [str(Path.cwd() / entry) for entry in entries.split(os.pathsep) if entries]


def _watch(child: int, asker: socket.socket) -> None:
    done = os.pidfd_open(child)
    poll = select.poll()
    poll.register(done, select.POLLIN)
    poll.register(asker, select.POLLIN)  # readable: the asker is gone
    if poll.poll()[0][0] != done:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        asker.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run(argv: list[str], finder: Torch) -> None:
    """Do what `python -c`, `-m` or FILE does; the first argument is the small one."""
    sys.executable, *argv = argv
    sys.meta_path.insert(0, finder)
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    try:
        if argv[0] == "-m":
            sys.argv, sys.path[0] = ["-m", *argv[2:]], str(Path.cwd())
            finder.forget(argv[1])
            runpy._run_module_as_main(argv[1])  # type: ignore[attr-defined]
            return
        if argv[0] == "-c":
            sys.argv, sys.path[0] = ["-c", *argv[2:]], ""
            code = compile(argv[1], "<string>", "exec")
        else:
            sys.argv, sys.path[0] = argv, str(Path(argv[0]).resolve().parent)
            main.__file__ = str(Path.cwd() / argv[0])
            code = compile(Path(argv[0]).read_bytes(), main.__file__, "exec")
        exec(code, main.__dict__)
    except Exception as error:  # without this function in its traceback
        inside = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(inside), inside)
        sys.exit(1)


if __name__ == "__main__":
    _argv, _before = serve(int(sys.argv[1]))
    run(_argv, Torch(_before | {"__main__"}))

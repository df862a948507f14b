"""Imports torch, and forks a copy for each program that `warm_python.py` asks for.

Explained in CONTRIBUTING.md, "Writing a chapter". A copy seems to be new: torch, which
was imported without a backend, and its compiler are not in `sys.modules`, and `import
torch` loads the backends, as always.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import os
import resource
import runpy
import select
import signal
import socket
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

# Each needs the ones before it; a copy hides what it has not imported.
IMPORTED = (
    "torch",
    "torch.fx.experimental.symbolic_shapes",
    "torch.distributed.tensor.experimental",
    "torch._dynamo",
)


class Group(NamedTuple):
    """The modules that one import added, and what they do when the process ends."""

    modules: dict[str, types.ModuleType]
    at_exit: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


class Kept(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives what was imported before the fork when it is imported."""

    def __init__(self, groups: list[Group]) -> None:
        self._groups = groups  # of IMPORTED, in this order
        self._hidden: list[tuple[types.ModuleType, str, str]] = []
        for name in (name for group in groups[1:] for name in group.modules):
            package, _, last = name.rpartition(".")
            if package.split(".")[0] != "torch":
                continue
            owner = sys.modules[package]
            if vars(owner).get(last) is sys.modules[name]:
                delattr(owner, last)
                self._hidden.append((owner, last, name))
        for group in self._groups:
            for name in group.modules:
                del sys.modules[name]

    def forget(self, name: str) -> None:
        """Let this module be read anew: it is the program."""
        for group in self._groups:
            group.modules.pop(name, None)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        found = [group for group in self._groups if name in group.modules]
        if not found:
            return None
        module = found[0].modules[name]
        made = module.__spec__  # builds read from it where torch is
        origin = made.origin if made is not None else None
        state = (module, made)
        return importlib.machinery.ModuleSpec(
            name, self, origin=origin, loader_state=state
        )

    def create_module(self, spec: Any) -> types.ModuleType:
        return spec.loader_state[0]

    def exec_module(self, module: types.ModuleType) -> None:
        """The module ran before the fork. With one of torch, its group is back."""
        spec: Any = module.__spec__
        name, module.__spec__ = spec.name, spec.loader_state[1]
        number = next(i for i, it in enumerate(self._groups) if name in it.modules)
        group = self._groups[number]
        if name.split(".")[0] != "torch":  # a library, alone
            if not hasattr(module, "__path__"):  # no file has what is inside
                for each in [it for it in group.modules if it.startswith(f"{name}.")]:
                    sys.modules[each] = group.modules[each]
            return
        for needed in IMPORTED[:number]:  # a backend may wait for them
            importlib.import_module(needed)
        for each, kept in group.modules.items():
            sys.modules.setdefault(each, kept)
        group.modules.clear()
        for function, args, kwargs in group.at_exit:
            atexit.register(function, *args, **kwargs)
        for package, last, each in self._hidden:
            if each in sys.modules:
                setattr(package, last, sys.modules[each])
        if name == "torch" and module._is_device_backend_autoload_enabled():
            module._import_device_backends()


def import_group(name: str) -> Group:
    """Import a module, and hold back what it would do when the process ends."""
    before, register = set(sys.modules), atexit.register
    group = Group({}, [])

    def keep(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        group.at_exit.append((function, args, kwargs))
        return function

    atexit.register = keep  # type: ignore[assignment]
    try:
        importlib.import_module(name)
    finally:
        atexit.register = register
    new = {each: module for each, module in sys.modules.items() if each not in before}
    group.modules.update(new)
    return group


def serve(number: int) -> tuple[list[str], list[Group]]:
    """Fork a copy for each request; return, in that copy, its arguments."""
    groups = [import_group(name) for name in IMPORTED]
    gc.freeze()  # else a copy touches all of torch when it collects garbage at its end
    listener = socket.socket(fileno=number)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one reaps the monitors
    while True:
        asker, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            atexit.register(_thaw, sys.modules["torch.distributed"])
            return _become(asker), groups
        asker.close()


def _thaw(distributed: types.ModuleType) -> None:
    """Let the end of a copy collect a process group, which reports to other ranks."""
    if distributed.is_initialized():
        gc.unfreeze()


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
    if env.get("OMP_NUM_THREADS") == "1":
        sys.modules["torch"].set_num_threads(1)
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


def run(argv: list[str], finder: Kept) -> None:
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
    _argv, _groups = serve(int(sys.argv[1]))
    run(_argv, Kept(_groups))

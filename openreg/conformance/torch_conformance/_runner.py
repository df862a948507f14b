# Runs each case in a process of its own; see docs/ship/conformance.md.
"""This process loads no backend, so a child of it may use any device."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import selectors
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

from torch_conformance._case import CASES, STEP, Case, Missing

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
WIDTH = 240  # of a line of an error: torch lists every dispatch key in one
Prepare = Callable[[], object]


class LoadError(RuntimeError):
    """The backend cannot be loaded before the forks."""


@dataclasses.dataclass
class Result:
    """What a case did: passed, wrong, missing, crashed or hung."""

    case: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


def select(levels: Iterable[int], words: Sequence[str] = ()) -> list[Case]:
    """The cases of some levels, in order, whose names contain one of the words."""
    importlib.import_module("torch_conformance.cases")
    wanted = set(levels)
    chosen = [
        case
        for case in CASES.values()
        if case.level in wanted
        and (not words or any(word in case.name for word in words))
    ]
    return sorted(chosen, key=lambda case: case.level)


def import_torch() -> None:
    """Import torch without backends: each child loads them.

    What comparisons and optimizers import later is imported here, once for all.
    """
    before = os.environ.get(AUTOLOAD)
    os.environ[AUTOLOAD] = "0"
    try:
        torch = importlib.import_module("torch")
        torch.testing.assert_close(torch.ones(1), torch.ones(1))
        torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    finally:
        os.environ.pop(AUTOLOAD)
        if before is not None:
            os.environ[AUTOLOAD] = before


def load(module: str | None) -> None:
    """What ``import torch`` does: load all backends, or import one that is named."""
    import torch

    if module is not None:
        importlib.import_module(module)
    elif torch._is_device_backend_autoload_enabled():
        torch._import_device_backends()


# LITERALINCLUDE START: CONFORMANCE_CHILD
def attempt(case: Case, device: str, module: str | None, prepare: Prepare) -> Result:
    """Run a case in this process, which runs nothing else."""
    from torch_conformance._device import Device, require

    try:
        if case.loads:
            load(module)
            prepare()
        under_test = Device(device, module)
        require(under_test, case.needs)  # (1)
        case.body(under_test)
        if case.loads:
            under_test.settle()  # a kernel may have failed behind the case
    except (Missing, NotImplementedError) as error:
        return Result(case.name, "missing", told(error))
    except BaseException as error:
        return Result(case.name, "wrong", told(error))
    return Result(case.name, "passed")


# LITERALINCLUDE END: CONFORMANCE_CHILD
def told(error: BaseException) -> str:
    """An error in a few lines of a readable length."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()][:6]
    text = "\n".join(
        line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in lines
    )
    kinds = (Missing, AssertionError)
    return text if isinstance(error, kinds) else f"{type(error).__name__}: {text}"


def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Child:
    """A process that runs one case."""

    def __init__(self, case: Case, run_case: Callable[[], Result]) -> None:
        self.case = case
        self.started = time.monotonic()
        self.printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.pipe, end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            self._child(run_case, end)
        os.close(end)
        os.set_blocking(self.pipe, False)
        self.text = b""

    def _child(self, run_case: Callable[[], Result], end: int) -> None:
        os.setpgid(0, 0)  # its own children end with it
        for number in (1, 2):
            os.dup2(self.printed.fileno(), number)
        result = Result(self.case.name, "wrong", "SystemExit")
        try:
            result = run_case()
        finally:
            with os.fdopen(end, "w") as pipe:
                json.dump(dataclasses.asdict(result), pipe)
            os._exit(0)  # what the exit of a backend does is not judged here

    def closed(self) -> bool:
        """Read what there is; return whether the child is done."""
        while block := self._read():
            self.text += block
        return block is not None

    def _read(self) -> bytes | None:
        try:
            return os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return None

    def overdue(self) -> bool:
        return time.monotonic() - self.started > self.case.seconds

    def result(self, hung: bool) -> Result:
        """End the process, and say what it did."""
        if hung:
            self._kill()
        _, status = os.waitpid(self.pid, 0)
        self._kill()
        os.close(self.pipe)
        code = os.waitstatus_to_exitcode(status)
        with self.printed:
            self.printed.seek(0)
            lines = self.printed.read().decode(errors="replace").splitlines()
        steps = [line for line in lines if line.startswith(STEP)]
        others = [line for line in lines if not line.startswith(STEP)]
        last = [f"at {line.removeprefix(STEP)}" for line in steps[-1:]]
        tail = "\n".join([*last, *others[-6:]])
        if self.text:
            result = Result(**json.loads(self.text))
        elif hung:
            limit = f"no end after {self.case.seconds:g} s"
            result = Result(self.case.name, "hung", f"{limit}\n{tail}".strip())
        else:
            name = signal_name(-code) if code < 0 else f"exit status {code}"
            result = Result(self.case.name, "crashed", f"{name}\n{tail}".strip())
        result.seconds = round(time.monotonic() - self.started, 2)
        return result

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def results(
    cases: Sequence[Case],
    device: str,
    *,
    module: str | None,
    jobs: int,
    prepare: Prepare,
) -> Iterator[Result]:
    """Run cases, some at a time; yield what they did as they end."""
    waiting, running = list(reversed(cases)), list[Child]()
    with selectors.DefaultSelector() as ready:
        while waiting or running:
            while waiting and len(running) < jobs:
                child = _start(waiting.pop(), device, module, prepare)
                ready.register(child.pipe, selectors.EVENT_READ, child)
                running.append(child)
            ready.select(timeout=0.5)
            for child in list(running):
                done = child.closed()
                if done or child.overdue():
                    ready.unregister(child.pipe)
                    running.remove(child)
                    yield child.result(hung=not done)


def _start(case: Case, device: str, module: str | None, prepare: Prepare) -> Child:
    return Child(case, lambda: attempt(case, device, module, prepare))


def run(
    device: str,
    levels: Iterable[int] = range(6),
    *,
    words: Sequence[str] = (),
    module: str | None = None,
    jobs: int = 1,
    warm: bool = False,
    prepare: Prepare = lambda: None,
    each: Callable[[Result], Any] = lambda result: None,
) -> list[Result]:
    """Run the cases of some levels on a device; return their results in order.

    ``warm`` loads the backend before the forks, which saves time. Each child calls
    ``prepare`` when the backend is loaded: tests plant a fault there.
    """
    if jobs < 1:
        raise ValueError(f"expected jobs from 1 on, got {jobs}: no case would run")
    import_torch()
    if warm:
        try:
            load(module)
        except Exception as error:
            raise LoadError(f"the backend does not load: {told(error)}") from error
    cases = select(levels, words)
    sys.stdout.flush()
    sys.stderr.flush()
    found: dict[str, Result] = {}
    for result in results(
        cases,
        device,
        module=module,
        jobs=jobs,
        prepare=prepare,
    ):
        found[result.case] = result
        each(result)
    return [found[case.name] for case in cases]

# A process that runs one case; see docs/ship/conformance.md.
"""The runner gets each step of the case and then its result, as lines of JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable
from typing import IO, Any

from torch_conformance._case import Case
from torch_conformance._load import load
from torch_conformance._outcome import Missing, Result, told
from torch_conformance._progress import listen, progress

Prepare = Callable[[], object]


# LITERALINCLUDE START: CONFORMANCE_CHILD
def attempt(case: Case, device: str, module: str | None, prepare: Prepare) -> Result:
    """Run a case in this process, which runs nothing else."""
    from torch_conformance._device import Device
    from torch_conformance._features import require

    under_test = Device(device, module)
    result = Result(case.name, "passed", measured=under_test.measured)
    try:
        if case.loads:
            load(module)
            prepare()
        require(under_test, case.needs)  # (1)
        progress()  # (2)
        case.body(under_test)
        if case.loads:
            under_test.settle()  # a kernel may have failed behind the case
    except (Missing, NotImplementedError) as error:
        result.outcome, result.detail = "missing", told(error)
    except BaseException as error:
        result.outcome, result.detail = "wrong", told(error)
    return result


# LITERALINCLUDE END: CONFORMANCE_CHILD
def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Child:
    """A forked process, and its messages so far."""

    def __init__(self, case: Case, run_case: Callable[[], Result]) -> None:
        self.case = case
        self.started = self.heard = time.monotonic()
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
        def tell(kind: str, what: Any) -> None:  # nothing is buffered: it may crash
            os.write(end, json.dumps({kind: what}).encode() + b"\n")

        os.setpgid(0, 0)  # its own children end with it
        for number in (1, 2):
            os.dup2(self.printed.fileno(), number)
        listen(lambda step: tell("step", step))
        result = Result(self.case.name, "wrong", "SystemExit")
        try:
            result = run_case()
        finally:
            tell("result", dataclasses.asdict(result))
            os._exit(0)  # what the exit of a backend does is not judged here

    def done(self) -> bool:
        """Read new messages; return whether the child has ended or sent its result."""
        while block := self._read():
            self.text += block
            self.heard = time.monotonic()
        return block is not None or bool(self._told("result"))

    def _read(self) -> bytes | None:
        try:
            return os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return None

    def _told(self, kind: str) -> list[Any]:
        """The child's messages of one kind, in complete lines."""
        lines = [json.loads(line) for line in self.text.split(b"\n")[:-1]]
        return [line[kind] for line in lines if kind in line]

    def overdue(self) -> bool:
        """Whether the case has made no progress for too long."""
        return time.monotonic() - self.heard > self.case.seconds

    def result(self, hung: bool) -> Result:
        """End the process, and return what it did."""
        if hung:
            self._kill()
        _, status = os.waitpid(self.pid, 0)
        self._kill()
        os.close(self.pipe)
        code = os.waitstatus_to_exitcode(status)
        with self.printed:
            self.printed.seek(0)
            lines = self.printed.read().decode(errors="replace").splitlines()
        last = [f"at {step}" for step in self._told("step") if step][-1:]
        tail = "\n".join([*last, *lines[-6:]])
        if results := self._told("result"):
            result = Result(**results[0])
        elif hung:
            limit = f"no progress for {self.case.seconds:g} s"
            result = Result(self.case.name, "hung", f"{limit}\n{tail}".strip())
        else:
            name = signal_name(-code) if code < 0 else f"exit status {code}"
            result = Result(self.case.name, "crashed", f"{name}\n{tail}".strip())
        result.seconds = round(time.monotonic() - self.started, 2)
        return result

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

# Runs each case in a separate process; see docs/ship/conformance.md.
"""This process loads no backend, so a child of it may use any device."""

from __future__ import annotations

import dataclasses
import importlib
import selectors
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch_conformance._case import CASES, Case
from torch_conformance._child import Child, Prepare, attempt
from torch_conformance._load import LoadError, import_torch, load
from torch_conformance._outcome import Result, told


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
                done = child.done()
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
    timeout: float | None = None,
    prepare: Prepare = lambda: None,
    each: Callable[[Result], Any] = lambda result: None,
) -> list[Result]:
    """Run the cases of some levels on a device; return their results in order.

    ``warm`` loads the backend before the forks, which saves time. A case hangs if it
    makes no progress for ``timeout`` seconds, or its own limit without one. Each child
    calls ``prepare`` when the backend is loaded: tests plant a fault there.
    """
    if jobs < 1:
        raise ValueError(f"expected 1 or more jobs, got {jobs}: no case would run")
    import_torch()
    if warm:
        try:
            load(module)
        except Exception as error:
            raise LoadError(f"the backend does not load: {told(error)}") from error
    cases = select(levels, words)
    if timeout is not None:
        cases = [dataclasses.replace(case, seconds=timeout) for case in cases]
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

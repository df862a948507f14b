# Finds generated samples that the CPU takes; see docs/ship/sweep.md.
"""Generated arguments are mostly wrong, and some end the process that calls with them.

So a child process tries them on the CPU. It says which it begins, and what came of it.
"""

import ctypes
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_leaves

from .calls import WrongValue, call
from .compare import compare
from .mirror import mirror, parts
from .schema_arguments import STYLES, sample

TURNS = 6  # samples that are tried in each style
RESULTS = 2  # of them that are kept
ERRORS = 4  # samples of an overload that are kept and raise errors, each another one
PATIENCE = 5  # seconds that a call on the CPU may take
RESULT, ARBITRARY, UNSAFE = "result", "arbitrary", "unsafe"
M_PERTURB = -6  # malloc fills memory with the converse of this byte


class Tried(NamedTuple):
    """What became of a sample on the CPU."""

    style: str
    turn: int
    outcome: str  # RESULT, ARBITRARY, UNSAFE, or an error


def chosen(overload: torch._ops.OpOverload, dtype: torch.dtype) -> list[SampleInput]:
    """Return samples with results, and some with errors; the same ones in every run.

    The name of a sample says how it was made. Its values are arbitrary if they depend
    on a seed, or on what fresh memory contains.
    """
    return [
        _named(sample(overload, dtype, tried.style, tried.turn), tried)
        for tried in search(overload, dtype)
        if tried.outcome != UNSAFE
    ]


def _named(made: SampleInput, tried: Tried) -> SampleInput:
    made.name = f"{tried.style} {tried.turn} {tried.outcome}"
    return made


def search(overload: torch._ops.OpOverload, dtype: torch.dtype) -> list[Tried]:
    """Try samples in child processes; return those to keep and those that end one."""
    found: list[Tried] = []
    rest = [(style, turn) for style in STYLES for turn in range(TURNS)]
    while rest:
        begun, found = _in_child(overload, dtype, rest, found)
        if begun is None:
            break
        found.append(Tried(*begun, UNSAFE))
        rest = rest[rest.index(begun) + 1 :]
    return found


def _in_child(
    overload: torch._ops.OpOverload,
    dtype: torch.dtype,
    rest: list[tuple[str, int]],
    found: list[Tried],
) -> tuple[tuple[str, int] | None, list[Tried]]:
    """Return what the child had begun when it ended early, and all that was found."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w", buffering=1) as file:
            try:
                _try_all(overload, dtype, rest, found, lambda x: print(x, file=file))
            finally:
                os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        lines = [json.loads(line) for line in file.read().splitlines()]
    os.waitpid(child, 0)
    begun: tuple[str, int] | None = rest[0]
    for line in lines:
        if line == "end":
            begun = None
        elif len(line) == 2:
            begun = tuple(line)
        else:
            found = [*found, Tried(*line)]
    return begun, found


def _try_all(
    overload: torch._ops.OpOverload,
    dtype: torch.dtype,
    rest: list[tuple[str, int]],
    found: list[Tried],
    say: Callable[[str], None],
) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    found = list(found)
    for style, turn in rest:
        results = [x for x in found if x.style == style and _has_result(x)]
        errors = [x.outcome for x in found if not _has_result(x)]
        if len(results) == RESULTS:
            continue
        say(json.dumps([style, turn]))
        signal.alarm(PATIENCE)
        outcome = _outcome(overload, sample(overload, dtype, style, turn))
        signal.alarm(0)
        tried = Tried(style, turn, outcome)
        if _has_result(tried) or (outcome not in errors and len(errors) < ERRORS):
            found.append(tried)
            say(json.dumps(tried))
    say(json.dumps("end"))


def _has_result(tried: Tried) -> bool:
    return tried.outcome in (RESULT, ARBITRARY)


def _outcome(overload: torch._ops.OpOverload, made: SampleInput) -> str:
    """Call twice, with another seed and other contents of fresh memory."""
    first, second = (_run(overload, made, number) for number in (0, 1))
    draws = torch.Tag.nondeterministic_seeded in overload.tags
    if isinstance(first, str) or isinstance(second, str):
        return first if first == second else UNSAFE
    for values, outcome in ((True, RESULT), (False, ARBITRARY)):
        try:
            compare(first, second, device="cpu", values=values, strides=True)
        except WrongValue:
            continue
        return ARBITRARY if draws else outcome
    return UNSAFE


def _run(overload: torch._ops.OpOverload, made: SampleInput, number: int) -> Any:
    """Return the results and the arguments after the call, or the error."""
    ctypes.CDLL(None).mallopt(M_PERTURB, (0xFF, 0x54)[number])
    copy = mirror(made, None)
    for generator in (torch.default_generator, *_generators(copy)):
        generator.manual_seed(number)
    try:
        return call(overload, copy), parts(copy)
    except Exception as error:
        return f"{type(error).__name__}: {re.sub(r'[0-9]+', '#', str(error))[:80]}"


def _generators(made: SampleInput) -> Iterator[torch.Generator]:
    leaves = tree_leaves(parts(made))
    return (leaf for leaf in leaves if isinstance(leaf, torch.Generator))

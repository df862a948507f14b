# Writes docs/reference/conformance-knockouts.md: the starter judged without its pieces.
"""Runs the conformance kit on the starter without one piece at a time.

nox -s ladder -- conformance

It ends with 1 if the page was not what it is now. A test repeats the part that needs no
build of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]

from conformance.areas import LONG  # noqa: E402
from starter_build import environment, package_of  # noqa: E402
from starter_knockouts import SECTIONS, build, label, pieces, publish  # noqa: E402
from torch_conformance._case import Case  # noqa: E402
from torch_conformance._load import import_torch  # noqa: E402
from torch_conformance._outcome import Result  # noqa: E402
from torch_conformance._runner import results, select  # noqa: E402

PAGE = TOOLS.parents[2] / "docs/reference/conformance-knockouts.md"
LIMIT = 20  # seconds of a case: without a piece, it may hang
NAMED = 2  # so many of the other cases have their names in the table
HEAD = """\
# The starter without a piece, judged by the kit

A backend that is still growing lacks most pieces. This page lists which case of the
[conformance kit](../ship/conformance.md) fails if a piece of
[your first backend](../start/first-backend.md) is missing.

`openreg/tests/tools/conformance_knockouts.py` generates the tables. It leaves out one
piece at a time, as [the starter without a piece](starter-knockouts.md) does, and runs
the kit level by level until a case fails. Only cases that pass with all pieces count:
all of levels 0 to 3, and some of the later levels. A row shows the case whose advice
names the piece, or else the first case that fails. A pure virtual member cannot be left
out. The cases of the compiler and of the operator database do not run.

**Found: {found} of {total}.** For {only} of them, no other case of the level fails.
If nothing fails, either no case calls the piece, or PyTorch works without it, or its
cases need another feature that the starter lacks, such as a generator.
"""
COLUMNS = """\
| without | level | case | outcome | what else fails |
|---|---|---|---|---|
"""


@dataclasses.dataclass
class Verdict:
    """The cases that fail on the first level where one fails, with their outcomes."""

    level: int | None
    failed: dict[str, str]
    abstract: bool = False


@functools.cache
def passing(level: int) -> list[Case]:
    """The cases of a level that pass with all pieces.

    The rewritten copy has no entry point, so what loads through it is left out.
    """
    cases = [
        dataclasses.replace(case, seconds=min(case.seconds, LIMIT))
        for case in select([level])
        if case.loads and case.area not in LONG
    ]
    failed = failures("", cases)
    assert level > 3 or not failed, f"with all pieces: {failed}"
    return [case for case in cases if case.name not in failed]


def failures(piece: str, chosen: Sequence[Case]) -> dict[str, Result]:
    """Run cases on the starter without a piece, each in a separate process."""
    kind, _, attribute = piece.partition(".")
    os.environ["STARTER_WITHOUT"] = piece

    def prepare() -> None:
        if kind == "module":
            starter = sys.modules["torch_starter"].starter
            delattr(starter, attribute)

    found = results(chosen, "starter", module="torch_starter", jobs=2, prepare=prepare)
    failed = {result.case: result for result in found if not result.passed}
    return {case.name: failed[case.name] for case in chosen if case.name in failed}


def judge(piece: str) -> Verdict:
    """Run the levels, until a case fails that passes with all pieces."""
    for level in range(6):
        failed = failures(piece, passing(level))
        if any("ABSTRACT" in result.detail for result in failed.values()):
            return Verdict(None, {}, abstract=True)
        if failed:
            return Verdict(level, {name: failed[name].outcome for name in failed})
    return Verdict(None, {})


def measure(site: Path, names: Sequence[str]) -> dict[str, Verdict]:
    """Judge the starter of a folder without each of some pieces."""
    command = [sys.executable, __file__, "--run", *names]
    env = environment(site)
    env["PYTHONPATH"] += f"{os.pathsep}{package_of('torch_conformance').parent}"
    process = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    found = json.loads(process.stdout.splitlines()[-1])
    return {name: Verdict(*verdict) for name, verdict in found.items()}


def run_here(names: Sequence[str]) -> dict[str, Verdict]:
    """What ``measure`` starts."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import_torch()
    found = {}
    for name in names:
        found[name] = judge(name)
        print(name, found[name], file=sys.stderr)
    return found


def right_case(piece: str, failed: Sequence[str]) -> str:
    """The case whose advice names the piece, or else the first one."""
    name = piece.partition(" on ")[0]
    name = name.partition(".")[2] if name.partition(".")[0] in SECTIONS else name
    advice = {case.name: case.implement for case in select(range(6))}
    for word in (name, name.partition(".")[0]):  # an overload, and its operator
        named = [case for case in failed if re.search(rf"\b{word}\b", advice[case])]
        if word and named:
            return named[0]
    return next(iter(failed))


def row(piece: str, verdict: Verdict) -> str:
    shown = label(piece)
    if not verdict.failed:
        return f"| {shown} | | | nothing fails | |"
    case = right_case(piece, list(verdict.failed))
    others = [other for other in verdict.failed if other != case]
    also = ", ".join(f"`{other}`" for other in others) or "none"
    if len(others) > NAMED:
        also = f"{len(others)} cases"
    cells = [shown, str(verdict.level), f"`{case}`", verdict.failed[case], also]
    return f"| {' | '.join(cells)} |"


def page(measured: dict[str, Verdict]) -> str:
    """Return the text of the page."""
    there = {name: v for name, v in measured.items() if not v.abstract}
    found = [verdict for verdict in there.values() if verdict.failed]
    only = sum(len(verdict.failed) == 1 for verdict in found)
    head = HEAD.format(found=len(found), total=len(there), only=only)
    parts = [head]
    for section, names in judged().items():
        title = SECTIONS[section][0]
        rows = [row(name, there[name]) for name in names if name in there]
        parts.append(f"## {title}\n\n{COLUMNS}" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def judged() -> dict[str, list[str]]:
    """What is left out: the entry point is what a case of level 0 tests by itself."""
    return {name: of for name, of in pieces().items() if name != "entry point"}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        verdicts = run_here(sys.argv[2:])
        told = {name: dataclasses.astuple(v) for name, v in verdicts.items()}
        print(json.dumps(told))
    else:
        every = [name for section in judged().values() for name in section]
        publish(PAGE, page(measure(build(), every)))

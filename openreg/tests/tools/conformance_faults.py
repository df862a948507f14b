# Writes docs/reference/conformance-faults.md: which planted faults the kit finds.
"""Plants each fault in the backend, and runs the cases that may find it.

python openreg/tests/tools/conformance_faults.py

It ends with 1 if the page was not what it is now. A test repeats a part.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

from conformance.areas import LONG  # noqa: E402
from conformance.faults import Fault, all_faults  # noqa: E402
from conformance.shim import run_behind_shim  # noqa: E402
from conformance.variants import VARIANTS  # noqa: E402
from conformance_variants import judge_variants, table  # noqa: E402
from torch_conformance._case import Case  # noqa: E402
from torch_conformance._load import import_torch, load  # noqa: E402
from torch_conformance._runner import results, select  # noqa: E402

PAGE = TOOLS.parents[2] / "docs/reference/conformance-faults.md"
HEAD = """\
# Faults that the conformance kit finds

A test suite proves little until it has found mistakes. This page lists what the
[conformance kit](../ship/conformance.md) finds in a broken backend, which case finds
it, and on which devices no case may fail.

`openreg/tests/tools/conformance_faults.py` generates both tables.

{variants}

## Faults

The tool plants one fault at a time in the complete backend and runs each case up to the
level of the case in the row, in a separate process. Without a fault, the same cases
pass. A fault of the **driver** is in a library that is loaded in front of the driver, a
fault of the **device module** is in `torch.openreg`, and a wrong **kernel** replaces
the kernel of an operator.

**Found: {found} of {total}.** No case of an earlier level fails, so the case of the row
is on the level where a run first shows the fault. For {only} faults it is the only case
that fails. The last column has the other failing cases of its level, which are most
cases if the fault is in a basic part. The cases of the compiler and of the operator
database take minutes, so they do not run with a fault.

| fault | where | case | outcome | what else fails |
|---|---|---|---|---|
"""
LIMIT = 20  # seconds without progress: a fault may let a case hang
AGAIN = 3  # so few other cases that fail are run again
NAMED = 2  # so many of them have their names in the table


@dataclasses.dataclass
class Finding:
    """What the case of a fault does without and with it, and what else fails."""

    sound: str
    broken: str
    others: list[str]


def measure(numbers: Sequence[int], *, alone: bool = False) -> list[Finding]:
    """Plant each fault; run the cases up to the level of its case, or that one."""
    options = ["--alone"] if alone else []
    found = run_behind_shim(__file__, "--run", *map(str, numbers), *options)
    return [Finding(*finding) for finding in found]


def cases_of(fault: Fault, *, alone: bool) -> list[Case]:
    """What is run with a fault."""
    upto = range(level_of(fault.case) + 1)
    cases = select(upto, [fault.case] if alone else ())
    return [
        dataclasses.replace(case, seconds=min(case.seconds, LIMIT))
        for case in cases
        if case.name == fault.case or not (alone or case.area in LONG)
    ]


def level_of(case: str) -> int:
    (found,) = (c for c in select(range(6), [case]) if c.name == case)
    return found.level


def run_here(numbers: Sequence[int], alone: bool) -> list[Finding]:
    """What ``measure`` starts, where the shim is loaded."""
    faults = all_faults()
    import_torch()
    load(None)  # once, before the forks
    chosen = {number: cases_of(faults[number], alone=alone) for number in numbers}
    every = {case.name: case for cases in chosen.values() for case in cases}
    sound = outcomes(list(every.values()), lambda: None)
    again = [every[name] for name, outcome in sound.items() if outcome != "passed"]
    sound |= outcomes(again, lambda: None)  # a busy machine also makes a case fail
    broken = {name: text for name, text in sound.items() if text != "passed"}
    assert alone or not broken, f"without a fault: {broken}"
    found = []
    for number, cases in chosen.items():
        fault = faults[number]
        did = outcomes(cases, fault.plant)
        others = failing(did, fault)
        if len(others) <= AGAIN:
            again = [case for case in cases if case.name in others]
            others = failing(outcomes(again, fault.plant), fault)
        print(f"{fault.name}: {did[fault.case]}; {others}", file=sys.stderr)
        found.append(Finding(sound[fault.case], did[fault.case], others))
    return found


def outcomes(cases: Sequence[Case], plant: Callable[[], object]) -> dict[str, str]:
    """Run cases two at a time, most of which sleep."""
    found = results(cases, "openreg", module=None, jobs=2, prepare=plant)
    return {result.case: result.outcome for result in found}


def failing(found: dict[str, str], fault: Fault) -> list[str]:
    return sorted(
        name
        for name, outcome in found.items()
        if outcome != "passed" and name != fault.case
    )


def page(findings: Sequence[Finding], variants: str) -> str:
    """The page; every case passes without a fault, and no earlier level fails."""
    rows, found, only = [], 0, 0
    for fault, finding in zip(all_faults(), findings, strict=True):
        assert finding.sound == "passed", f"{fault.case}: {finding.sound}"
        level = level_of(fault.case)
        earlier = [name for name in finding.others if level_of(name) < level]
        assert not earlier, f"{fault.name}: {earlier} before {fault.case}"
        missed = finding.broken == "passed"
        found += not missed
        only += not missed and not finding.others
        shown = "not found" if missed else finding.broken
        cells = [fault.name, fault.where, f"`{fault.case}`", shown]
        rows.append(f"| {' | '.join(cells)} | {also(finding.others)} |")
    head = HEAD.format(found=found, total=len(rows), only=only, variants=variants)
    return head + "\n".join(rows) + "\n"


def also(others: Sequence[str]) -> str:
    """The other cases that fail: their names, or how many they are."""
    if len(others) > NAMED:
        return f"{len(others)} cases"
    return ", ".join(f"`{name}`" for name in others) or "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs="*", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run is not None:
        found = run_here(given.run, given.alone)
        print(json.dumps([dataclasses.astuple(finding) for finding in found]))
        return 0
    variants = table(judge_variants(range(len(VARIANTS))))
    text = page(measure(range(len(all_faults()))), variants)
    old = PAGE.read_text() if PAGE.exists() else ""
    PAGE.write_text(text)
    return int(text != old)


if __name__ == "__main__":
    sys.exit(main())

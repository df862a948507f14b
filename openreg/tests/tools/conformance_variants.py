# Judges devices that are slow or small, and not wrong; see docs/ship/conformance.md.
"""``conformance_faults.py`` writes the table, and a test repeats a part."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

from conformance.areas import LONG  # noqa: E402
from conformance.shim import run_behind_shim  # noqa: E402
from conformance.variants import VARIANTS, Variant  # noqa: E402
from torch_conformance._load import import_torch, load  # noqa: E402
from torch_conformance._report import Report  # noqa: E402
from torch_conformance._runner import results, select  # noqa: E402

HEAD = """\
## Slow and small devices

A device may lack what makes another one fast, and is not wrong for that. The tool
changes the backend in such ways, and all cases of the levels 0 to 5 pass, so no score
drops. The report names the capability that is missing:

| device | cases that fail | reported as missing |
|---|---|---|
"""


@dataclasses.dataclass
class Judged:
    """What the kit says of a variant."""

    failed: dict[str, str]
    capabilities: dict[str, bool]

    @property
    def lacks(self) -> set[str]:
        return {name for name, there in self.capabilities.items() if not there}


def judge_variants(numbers: Sequence[int], *words: str) -> list[Judged]:
    """Plant each variant; run the cases whose names contain a word, or all."""
    arguments = [json.dumps([list(numbers), words])]
    found = run_behind_shim(__file__, *arguments)
    return [Judged(*judged) for judged in found]


def judge_here(number: int, words: Sequence[str]) -> Judged:
    """What ``judge_variants`` starts, where the shim is loaded."""
    cases = [case for case in select(range(6), words) if case.area not in LONG]
    plant = VARIANTS[number].plant
    options = {"module": None, "jobs": 2, "prepare": plant}
    found = {it.case: it for it in results(cases, "openreg", **options)}
    failed = [case for case in cases if not found[case.name].passed]
    # A busy machine also makes a case fail.
    found |= {it.case: it for it in results(failed, "openreg", **options)}
    report = Report("openreg", "", list(found.values()))
    outcomes = {it.case: it.detail for it in found.values() if not it.passed}
    print(VARIANTS[number].name, outcomes, report.capabilities, file=sys.stderr)
    return Judged(outcomes, report.capabilities)


def table(judged: Sequence[Judged]) -> str:
    """A row for each variant; no case fails with any of them."""
    for variant, found in zip(VARIANTS, judged, strict=True):
        assert not found.failed, f"{variant.name}: {found.failed}"
        assert found.lacks == set(variant.lacks), f"{variant.name}: {found.lacks}"
    return HEAD + "\n".join(map(row, VARIANTS))


def row(variant: Variant) -> str:
    lacks = "; ".join(variant.lacks) or "nothing"
    return f"| {variant.name} | none | {lacks} |"


if __name__ == "__main__":
    chosen, given = json.loads(sys.argv[1])
    import_torch()
    load(None)  # once, before the forks
    told = [dataclasses.astuple(judge_here(number, given)) for number in chosen]
    print(json.dumps(told))

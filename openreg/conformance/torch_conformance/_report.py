# Scores, tables and comparisons of the conformance kit; see docs/ship/conformance.md.
from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from torch_conformance._case import CASES, LEVELS, PAGES, Case
from torch_conformance._outcome import OUTCOMES, Result

EARLIER = " Name a file that --json wrote."


@dataclasses.dataclass
class Report:
    """The results of one run on a device."""

    device: str
    torch: str
    results: list[Result]

    @property
    def levels(self) -> list[int]:
        return sorted({CASES[result.case].level for result in self.results})

    def of_level(self, level: int) -> list[Result]:
        return [r for r in self.results if CASES[r.case].level == level]

    # LITERALINCLUDE START: CONFORMANCE_SCORE
    def score(self, level: int) -> float:
        """The mean of the areas' shares of passed cases, from 0 to 1."""
        areas: dict[str, list[bool]] = {}
        for result in self.of_level(level):
            areas.setdefault(CASES[result.case].area, []).append(result.passed)
        return sum(sum(area) / len(area) for area in areas.values()) / len(areas)

    @property
    def readiness(self) -> float:
        """The mean of the levels that were run."""
        return sum(map(self.score, self.levels)) / len(self.levels)

    @property
    def reached(self) -> int | None:
        """The last level up to which every case passes."""
        reached = None
        for expected, level in enumerate(self.levels):
            if level != expected or not all(r.passed for r in self.of_level(level)):
                break
            reached = level
        return reached

    # LITERALINCLUDE END: CONFORMANCE_SCORE

    @property
    def complete(self) -> bool:
        return all(result.passed for result in self.results)

    @property
    def capabilities(self) -> dict[str, bool]:
        """What the cases measured; one that found it is the proof."""
        found: dict[str, bool] = {}
        for result in self.results:
            for name, there in result.measured.items():
                found[name] = there or found.get(name, False)
        return found

    def areas(self) -> list[tuple[int, str, list[Result]]]:
        """Level, area and results, in order."""
        found: dict[tuple[int, str], list[Result]] = {}
        for result in self.results:
            case = CASES[result.case]
            found.setdefault((case.level, case.area), []).append(result)
        return [(*key, found[key]) for key in sorted(found, key=lambda key: key[0])]

    def as_json(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "torch": self.torch,
            "readiness": round(self.readiness, 4),
            "reached": self.reached,
            "capabilities": self.capabilities,
            "levels": {str(n): round(self.score(n), 4) for n in self.levels},
            "results": [
                dataclasses.asdict(r) | advice(CASES[r.case]) for r in self.results
            ],
        }


def advice(case: Case) -> dict[str, Any]:
    """What a report says about a case, besides its result."""
    return {
        "level": case.level,
        "stage": case.stage,
        "expects": case.expects,
        "implement": case.implement,
        "page": PAGES[case.page],
    }


def level_name(level: int) -> str:
    return f"{level} {LEVELS[level]}"


def show(report: Report) -> str:
    """The report as text: what fails, the table, and the score."""
    lines: list[str] = []
    for result in report.results:
        if not result.passed:
            lines += [*_failure(result), ""]
    widths = [max(len(level_name(level)) for level in report.levels), 13]
    head = ["level".ljust(widths[0]), "area".ljust(widths[1])]
    lines.append("  ".join([*head, *(name.rjust(7) for name in OUTCOMES)]))
    for level, area, results in report.areas():
        counts = [sum(r.outcome == name for r in results) for name in OUTCOMES]
        cells = [level_name(level).ljust(widths[0]), area.ljust(widths[1])]
        lines.append("  ".join([*cells, *((str(n or "-")).rjust(7) for n in counts)]))
    lines.append("")
    for level in report.levels:
        share = report.score(level)
        bar = "#" * int(20 * share)
        lines.append(f"{level_name(level):{widths[0]}}  {bar:.<20} {_percent(share)}")
    lines += [f"{name}: {yes_or_no(it)}" for name, it in report.capabilities.items()]
    reached = "none" if report.reached is None else report.reached
    lines.append(
        f"readiness of {report.device}: {_percent(report.readiness).strip()}, "
        f"level reached: {reached}"
    )
    return "\n".join(lines)


def yes_or_no(there: bool) -> str:
    return "yes" if there else "no"


def _percent(share: float) -> str:
    """Rounded down: 100 % means all."""
    return f"{int(100 * share + 1e-9):3d} %"


def _failure(result: Result) -> list[str]:
    case = CASES[result.case]
    told = advice(case)
    stage = "none" if case.stage is None else case.stage
    return [
        f"{result.outcome}: {result.case}",
        *(f"    {line}" for line in result.detail.splitlines()),
        f"  expected:  {told['expects']}",
        f"  implement: {told['implement']}",
        f"  page:      {told['page']}",
        f"  ladder:    stage {stage}",
    ]


def read(file: Path) -> dict[str, Any]:
    """The JSON of an earlier run. Raise ValueError if the file has none."""
    try:
        earlier: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        _ = {(result["case"], result["outcome"]) for result in earlier["results"]}
        earlier["readiness"] = float(earlier["readiness"])
        earlier["capabilities"] = dict(earlier.get("capabilities", {}))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}.{EARLIER}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{file} is no report: {type(error).__name__}: {error}.{EARLIER}"
        ) from None
    return earlier


def compare(report: Report, earlier: dict[str, Any]) -> str:
    """What changed since an earlier run: a line for each case with another outcome."""
    old = {result["case"]: result["outcome"] for result in earlier["results"]}
    new = {result.case: result.outcome for result in report.results}
    lines = [
        f"{_change(was, outcome)}: {name}, {was} before, now {outcome}"
        for name, outcome in new.items()
        if (was := old.get(name, outcome)) != outcome
    ]
    lines += [f"new: {name}, {new[name]}" for name in new if name not in old]
    lines += [f"not run: {name}" for name in old if name not in new]
    before = earlier["capabilities"]
    lines += [
        f"{name}: {yes_or_no(before[name])} before, now {yes_or_no(there)}"
        for name, there in report.capabilities.items()
        if before.get(name, there) != there
    ]
    then, now = 100 * earlier["readiness"], 100 * report.readiness
    lines.append(f"readiness: {then:.1f} % before, now {now:.1f} %")
    return "\n".join(lines)


def _change(was: str, now: str) -> str:
    return "better" if now == "passed" else "worse" if was == "passed" else "changed"

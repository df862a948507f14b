# The cases of the sweep that are wrong, and why; see docs/ship/testing.md.
"""A case that is wrong and not listed fails the test; so does one listed and right."""

import re
from typing import NamedTuple

from .cases import RIGHT, Case, Verdict


class Known(NamedTuple):
    """Cases that are wrong, for a reason that is known."""

    operators: tuple[str, ...]
    ways: tuple[str, ...]
    verdict: str
    match: str  # in the detail of the verdict
    cause: str
    dtypes: tuple[str, ...] = ()  # all, if empty
    always: bool = True  # or with some samples only

    def covers(self, case: Case) -> bool:
        return (
            case.operator in self.operators
            and case.way in self.ways
            and (not self.dtypes or case.dtype in self.dtypes)
        )

    def explains(self, verdict: Verdict) -> bool:
        found = re.search(self.match, verdict.detail)
        return self.verdict == verdict.verdict and found is not None


KNOWN = [
    Known(
        operators=("narrow_copy",),
        ways=("refusal",),
        verdict="error",
        match="IndexError: Dimension out of range",
        cause="The CPU has a kernel that checks less well than torch's composite one.",
    ),
    Known(
        operators=("gather", "scatter", "scatter_add"),
        ways=("refusal",),
        verdict="error",
        match="AcceleratorError: .* is out of bounds for dimension",
        cause="Only the device knows the indices. It stops, as CUDA does.",
    ),
]


def problems(verdicts: list[Verdict], *, full: bool = False) -> list[str]:
    """Return what is wrong and not known, and what is known and not wrong.

    Args:
        full: the verdicts are about all samples.
    """
    found = []
    for verdict in verdicts:
        name = " ".join(verdict.case)
        known = [known for known in KNOWN if known.covers(verdict.case)]
        wrong = verdict.verdict not in (RIGHT, "same error")
        if wrong and not any(one.explains(verdict) for one in known):
            found.append(f"{name}: {verdict.verdict}, {verdict.detail}")
        if any(one.always or full for one in known) and not wrong:
            found.append(f"{name}: right now; remove it from KNOWN")
    return found

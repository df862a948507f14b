# What an entry of the list of known exceptions says; see docs/ship/sweep.md.
import re
from fnmatch import fnmatchcase
from typing import NamedTuple

from .cases import Case


class Known(NamedTuple):
    """Cases that are wrong, for a reason that is known."""

    operators: tuple[str, ...]  # or patterns
    ways: tuple[str, ...]
    verdict: str
    match: str  # in the detail of the verdict
    cause: str
    dtypes: tuple[str, ...] = ()  # all, if empty
    always: bool = True  # or with some samples only, and some of these operators
    rare: bool = False  # only in a run of all samples
    unsteady: bool = False  # not in each run

    def covers(self, case: Case) -> bool:
        return (
            case.way in self.ways
            and (not self.dtypes or case.dtype in self.dtypes)
            and any(fnmatchcase(case.operator, one) for one in self.operators)
        )

    def explains(self, verdict: str, detail: str) -> bool:
        """Return whether this is the reason of a failure."""
        return self.verdict == verdict and re.search(self.match, detail) is not None

# The cases of the sweep that are wrong, and why; see docs/ship/sweep.md.
"""A case that is wrong and not listed fails the test; so does one listed and right."""

from .cases import Verdict
from .known_case import Known
from .known_of_schemas import KNOWN_OF_SCHEMAS
from .known_of_ways import KNOWN_OF_WAYS

KNOWN = [
    *KNOWN_OF_WAYS,
    *KNOWN_OF_SCHEMAS,
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
        cause="Only the device has the indices. It stops, as CUDA does.",
    ),
]


def problems(verdicts: list[Verdict]) -> list[str]:
    """Return what is wrong and not known, and what is known and not wrong."""
    found = []
    for verdict in verdicts:
        name = " ".join(verdict.case)
        known = [known for known in KNOWN if known.covers(verdict.case)]
        failures = verdict.failures
        for failure in failures:
            if not any(one.explains(*failure) for one in known):
                found.append("{}: {}, {}".format(name, *failure))
        if any(one.always for one in known) and not failures:
            found.append(f"{name}: right now; remove it from KNOWN")
    return found


def unused(verdicts: list[Verdict], *, full: bool) -> list[str]:
    """Return what is known and was not seen in a run of all cases.

    A run with few samples need not meet each operator of an entry, but it meets one.
    """
    found = []
    for known in KNOWN:
        seen = {
            verdict.operator
            for verdict in verdicts
            if known.covers(verdict.case)
            and any(known.explains(*failure) for failure in verdict.failures)
        }
        missing = [name for name in known.operators if name not in seen]
        if missing and not known.unsteady and (full or not (seen or known.rare)):
            names = ", ".join(missing)
            ways = ", ".join(known.ways)
            found.append(f"{names}, {ways}: not seen; remove from KNOWN: {known.cause}")
    return found

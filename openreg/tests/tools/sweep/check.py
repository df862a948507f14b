# Checks one case on the device against the CPU; see docs/ship/sweep.md.
import re
from typing import Any

import torch
from torch.testing._internal.opinfo.core import SampleInput

from .cases import IN_GAPS, Case, Verdict, operator, samples
from .compare import WrongDevice, WrongValue, compare, compare_sharing
from .exceptions import (
    ARBITRARY_STRIDES,
    ARBITRARY_VALUES,
    HOST_ARGUMENTS,
    ROUNDED_ELSEWHERE,
)
from .mirror import mirror, names_a_device, parts
from .schema_search import ARBITRARY
from .seeds import seed_all
from .views import memories
from .ways import WAYS

DEVICE = "openreg:0"
MANY = 50  # failures that a verdict keeps
MISTAKEN = ("refusal", "mistakes")  # the ways where an error is the usual end
KINDS: dict[type, str] = {WrongDevice: "wrong device", WrongValue: "wrong value"}


class DeviceFault(Exception):
    """The device reported a fault; this process cannot use it any more."""

    verdict: Verdict  # with the samples before


def check(case: Case, limit: int | None) -> Verdict:
    """Run samples of a case on both devices.

    Raises:
        DeviceFault: a kernel failed on the device.
    """
    verdict = Verdict(*case)
    torch.openreg.reset_fallback_counts()
    seen: set[str] = set()
    for sample in samples(case, limit):
        verdict.samples += 1
        try:
            verdict.same_errors += not _check_sample(case, sample)
        except Exception as error:
            text = describe(error)
            if (alike := re.sub(r"\d", "", text)) not in seen and len(seen) < MANY:
                seen.add(alike)
                kind = KINDS.get(type(error), "error")
                verdict.add_failure(kind, f"{text}; with {sample.summary()}"[:2000])
            if isinstance(error, DeviceFault):
                error.verdict = verdict
                raise
    verdict.fallbacks = sorted(torch.openreg.fallback_counts())
    if verdict.same_errors == verdict.samples and case.way not in MISTAKEN:
        verdict.verdict = "same error"
    return verdict


# LITERALINCLUDE START: CHECK_SAMPLE
def _check_sample(case: Case, sample: SampleInput) -> bool:
    """Return whether there is a result; raise what is wrong with it."""
    some_stay = case.operator in HOST_ARGUMENTS
    here = mirror(sample, "cpu")
    there = mirror(sample, DEVICE, only_input=some_stay)  # (1)
    expected, expected_error = _attempt(case, here)
    actual, error = _attempt(case, there)  # (2)
    both = error is not None and expected_error is not None
    if both and (case.way == "schema" or type(error) is type(expected_error)):
        if case.way == "refusal":
            _compare_words(error, expected_error)
        return False  # (3)
    if case.way == "refusal" and expected_error is None:
        return True  # a bad argument for other devices only
    if error is not None:
        raise error
    if expected_error is not None:
        raise WrongValue(f"no error, but on the CPU: {describe(expected_error)}")
    # LITERALINCLUDE END: CHECK_SAMPLE
    # LITERALINCLUDE START: CHECK_RESULTS
    rules = {
        "device": DEVICE
        if names_a_device(sample)
        else "cpu",  # arange(2) makes one there
        "values": case.operator not in ARBITRARY_VALUES
        and ARBITRARY not in sample.name,
        "rounded_elsewhere": case.operator in ROUNDED_ELSEWHERE,
    }
    strides = case.operator not in ARBITRARY_STRIDES
    compare(actual, expected, strides=strides, **rules)  # (1)
    if not some_stay:  # (2)
        compare(parts(there), parts(here), strides=True, **rules)
    compare_sharing(actual, parts(there), expected, parts(here))  # (3)
    if case.way in IN_GAPS and not some_stay:  # (4)
        compare(memories(parts(there)), memories(parts(here)), strides=True, **rules)
    return True
    # LITERALINCLUDE END: CHECK_RESULTS


def _compare_words(error: Exception, expected: Exception) -> None:
    words, wanted = (str(e).partition("\n")[0] for e in (error, expected))
    if words.replace(DEVICE, "cpu") != wanted:
        raise WrongValue(f"says {words!r} instead of {wanted!r}")


def _attempt(case: Case, sample: SampleInput) -> tuple[Any, Exception | None]:
    """Run and wait for the device; return the result, or the error."""
    result, raised = None, None
    seed_all(0)
    try:
        result = WAYS[case.way](operator(case), sample)
    except Exception as error:
        raised = error
    try:
        torch.accelerator.synchronize()
    except RuntimeError as error:
        raise DeviceFault(describe(error)) from raised
    return result, raised


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:600]}"

# How the sweep calls an operator; see docs/ship/sweep.md.
"""Helpers of all ways in which the sweep runs an operator."""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves

from .mirror import tensors
from .seeds import seed_all

Way = Callable[[OpInfo, SampleInput], Any]


class WrongValue(AssertionError):
    """A result differs from the CPU's in its values, type, shape or strides."""


def call(function: Callable[..., Any], sample: SampleInput, **more: Any) -> Any:
    return function(sample.input, *sample.args, **sample.kwargs, **more)


def call_out(op: OpInfo, sample: SampleInput, outs: Any) -> None:
    """Call with ``out=`` tensors; check that the results are these tensors."""
    returned = call(op, sample, out=outs)
    if returned is None:  # some operators with a list of results
        return
    for given, got in zip(tree_leaves(outs), tree_leaves(returned), strict=True):
        if given is not got:
            raise WrongValue("the result is not the tensor that was given as out=")


def outcome(attempt: Callable[[], Any]) -> Any:
    """Return the result, or the name of the error's type: both are compared."""
    try:
        return attempt()
    except WrongValue:
        raise
    except Exception as error:
        return f"raises {type(error).__name__}"


def caught(attempt: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return the result, and how each warning begins, as often as it was given."""
    always = torch.is_warn_always_enabled()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        try:
            result = attempt()
        finally:
            torch.set_warn_always(always)
    return result, [str(one.message)[:50] for one in seen]


def with_warnings(attempt: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result, and how each warning begins, once."""
    result, texts = caught(attempt)
    return result, "; ".join(sorted(set(texts)))


def outputs(op: OpInfo, sample: SampleInput) -> tuple[Any, list[torch.Tensor]]:
    """Return the results, and those of them that have a gradient."""
    results = call(op, sample)
    if sample.output_process_fn_grad is not None:
        results = sample.output_process_fn_grad(results)
    return results, [x for x in tensors(results) if x.requires_grad]


def random_like(models: list[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Return random tensors of these shapes, the same on each device."""
    seed_all(seed)
    return [torch.randn(x.shape, dtype=x.dtype).to(x.device) for x in models]

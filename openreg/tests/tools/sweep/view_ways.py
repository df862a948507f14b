# The ways of the sweep with views and with out=; see docs/ship/sweep.md.
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves, tree_map

from .calls import call, call_out, outcome, random_like, with_warnings
from .mirror import mirror, tensors
from .views import is_plain, memories, view_in_memory

# What comes of memory that overlaps, besides an error.
SAME_VALUES, OTHER_VALUES = "as without overlap", "other values"
OTHER_DTYPES = (torch.float64, torch.complex64, torch.int32, torch.bool)


@dataclass(eq=False)
class Overlap:
    """What comes of memory that overlaps."""

    what: str
    in_part: bool

    def __eq__(self, expected: object) -> bool:
        """Return whether a device may do this if the CPU does the other.

        It may refuse what overlaps in part. It may give any values where those of the
        CPU depend on the order of the work.
        """
        if not isinstance(expected, Overlap) or self.in_part != expected.in_part:
            return False
        refused = self.in_part and self.what == "raises RuntimeError"
        may_refuse = refused and expected.what == SAME_VALUES
        return may_refuse or expected.what in (self.what, OTHER_VALUES)


def in_place_view(op: OpInfo, sample: SampleInput) -> Any:
    """Change a view; then one with a gradient, and one that overlaps itself."""
    inplace, spare = op.inplace_variant, mirror(sample, None)
    result = call(inplace, sample)
    if not is_plain(sample.input):
        return result
    found = [outcome(lambda: _gradient_of_view(inplace, mirror(spare, None)))]
    if spare.input.numel() > 1:
        spare.input = spare.input.flatten()[:1].clone().expand(spare.input.shape)
        refused = outcome(lambda: call(inplace, spare))
        what = refused if isinstance(refused, str) else "written"
        found.append(Overlap(what, in_part=True))
    return result, found


def _gradient_of_view(inplace: Callable[..., Any], sample: SampleInput) -> Any:
    """Change one of two rows; differentiate both."""
    if not sample.input.dtype.is_floating_point:
        return None
    leaf = torch.stack([sample.input, sample.input]).requires_grad_()
    rows = leaf * 1
    sample.input = rows[1]
    call(inplace, sample)
    return rows, torch.autograd.grad([rows], [leaf], random_like([rows], 1))


def out_view(op: OpInfo, sample: SampleInput) -> Any:
    """Write to views in larger memory; return them and this memory."""
    results = call(op, mirror(sample, None))
    found = []
    for transposed in (False, True):
        outs = tree_map(lambda x: _view_for(x, transposed), results)  # noqa: B023
        copy = mirror(sample, None)
        _, warned = with_warnings(lambda: call_out(op, copy, outs))  # noqa: B023
        found.append((outs, memories(outs), warned))
    return found


def out_shape(op: OpInfo, sample: SampleInput) -> Any:
    """Give tensors of other shapes and of other dtypes than the result has."""
    results = call(op, mirror(sample, None))
    makers = [
        lambda x: x.new_ones([size + 1 for size in x.shape] or [2]),
        lambda x: x.new_ones((x.numel(),)),
        lambda x: x.new_ones((0, 3)),
        lambda x: x.new_ones((*reversed(x.shape), 1)).transpose(0, -1),
        *(
            lambda x, dtype=dtype: torch.ones_like(x, dtype=dtype)
            for dtype in OTHER_DTYPES
        ),
    ]

    def attempt(make: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        outs = tree_map(make, results)
        call_out(op, mirror(sample, None), outs)
        return outs

    return [
        with_warnings(lambda m=make: outcome(lambda: attempt(m))) for make in makers
    ]


def out_overlap(op: OpInfo, sample: SampleInput) -> Any:
    """Give tensors that overlap themselves, an argument, or each other."""
    results = call(op, mirror(sample, None))
    fresh = [x.clone() for x in tensors(results)]
    found = []
    for make in (_expanded, _shifted, _same):
        copy = mirror(sample, None)
        outs = make(results, copy)
        if outs is not None:
            what = outcome(lambda: _overlapping(op, copy, outs, fresh))  # noqa: B023
            found.append(Overlap(what, in_part=make is not _same))
    return found


def _view_for(result: torch.Tensor, transposed: bool) -> torch.Tensor:
    shape, dtype = result.shape, result.dtype
    return view_in_memory(shape, dtype, result.device, transposed=transposed)


def _overlapping(
    op: OpInfo, sample: SampleInput, outs: Any, fresh: list[torch.Tensor]
) -> Any:
    """Return the results; nothing where they depend on the order of the work."""
    call_out(op, sample, outs)
    given = tree_leaves(outs)
    same = all(
        torch.equal(out.nan_to_num(), one.nan_to_num())
        for out, one in zip(given, fresh, strict=True)
    )
    return SAME_VALUES if same else OTHER_VALUES


def _expanded(results: Any, sample: SampleInput) -> Any:
    if all(x.numel() < 2 for x in tensors(results)):
        return None
    return tree_map(lambda x: x.new_ones(1).expand(x.shape), results)


def _shifted(results: Any, sample: SampleInput) -> Any:
    """Move an input of the same dtype to memory that begins one element earlier."""
    if not isinstance(results, torch.Tensor) or not is_plain(sample.input):
        return None
    given = sample.input
    if given.dtype != results.dtype or min(given.numel(), results.numel()) < 2:
        return None
    memory = given.new_ones(max(given.numel(), results.numel()) + 1)
    sample.input = memory[: given.numel()].view(given.shape).copy_(given)
    return memory[1 : 1 + results.numel()].view(results.shape)


def _same(results: Any, sample: SampleInput) -> Any:
    """Give the input as the output."""
    if not isinstance(results, torch.Tensor) or not is_plain(sample.input):
        return None
    given = sample.input
    fits = (given.dtype, given.shape) == (results.dtype, results.shape)
    return given if fits else None

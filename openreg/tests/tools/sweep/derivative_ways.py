# The ways of the sweep with torch's transforms; see docs/ship/sweep.md.
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from .calls import call, outcome, outputs, random_like
from .mirror import parts, tensors
from .seeds import seed_all
from .views import is_plain


def forward_mode(op: OpInfo, sample: SampleInput) -> Any:
    """Return the results and their tangents."""
    leaves = [x for x in tensors(parts(sample)) if x.requires_grad]
    tangents = dict(zip(map(id, leaves), random_like(leaves, 1), strict=True))
    with forward_ad.dual_level():

        def dual(leaf: Any) -> Any:
            if id(leaf) not in tangents:
                return leaf
            return forward_ad.make_dual(leaf.detach(), tangents[id(leaf)])

        value, args, kwargs = tree_map(dual, parts(sample))
        results = op(value, *args, **kwargs)
        if sample.output_process_fn_grad is not None:
            results = sample.output_process_fn_grad(results)
        pairs = [forward_ad.unpack_dual(x) for x in tensors(results)]
    return [(pair.primal, pair.tangent) for pair in pairs]


def double_backward(op: OpInfo, sample: SampleInput) -> Any:
    """Return the gradients of all inputs and the gradients of these."""
    results, differentiable = outputs(op, sample)
    if not differentiable:
        return results
    inputs = [x for x in tensors(parts(sample)) if x.requires_grad]
    weights = [x.requires_grad_() for x in random_like(differentiable, 1)]
    first = torch.autograd.grad(
        differentiable, inputs, weights, create_graph=True, allow_unused=True
    )
    again = [x for x in first if x is not None and x.requires_grad]
    if not again:
        return first
    second = torch.autograd.grad(
        again, [*inputs, *weights], random_like(again, 2), allow_unused=True
    )
    return first, second


def vmapped(op: OpInfo, sample: SampleInput) -> Any:
    """Return what a batch gives: of all tensors, and of the first one alone."""
    leaves, shape = tree_flatten(parts(sample))
    places = [place for place, leaf in enumerate(leaves) if is_plain(leaf)]

    def batched(chosen: list[int], dimension: int) -> Any:
        def one(*rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
            own = list(leaves)
            for place, row in zip(chosen, rows, strict=True):
                own[place] = row
            value, args, kwargs = tree_unflatten(own, shape)
            return tuple(tensors(op(value, *args, **kwargs)))

        seed_all(0)
        batch = [_pair(leaves[place], dimension) for place in chosen]
        run = torch.func.vmap(one, in_dims=dimension, randomness="different")
        return run(*batch)

    found = [outcome(lambda: call(op, sample))]
    if places:
        found.append(outcome(lambda: batched(places, 0)))
        found.append(outcome(lambda: batched(places[:1], -1)))
    return found


def _pair(tensor: torch.Tensor, dimension: int) -> torch.Tensor:
    """Return a batch of a tensor and one with other values, as valid as the first."""
    inexact = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return torch.stack([tensor, tensor / 2 if inexact else tensor], dim=dimension)

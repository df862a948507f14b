# The ways in which the sweep runs an operator; see docs/ship/sweep.md.
"""Each is a function of an operator and a sample, for tensors of either device."""

from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_map

from .calls import Way, call, call_out, outputs, random_like
from .derivative_ways import double_backward, forward_mode, vmapped
from .launch_ways import launched
from .mirror import mirror, parts, tensors
from .view_ways import in_place_view, out_overlap, out_shape, out_view


def forward(op: OpInfo, sample: SampleInput) -> Any:
    return call(op, sample)


def in_place(op: OpInfo, sample: SampleInput) -> Any:
    return call(op.inplace_variant, sample)


def out(op: OpInfo, sample: SampleInput) -> Any:
    """Give ``out=`` tensors of the right shape, then empty ones; return all of them."""
    results = call(op, mirror(sample, None))
    fitting = tree_map(lambda x: torch.empty_like(x).fill_(1), results)
    empty = tree_map(lambda x: x.new_empty(0), results)
    for outs, arguments in ((fitting, sample), (empty, mirror(sample, None))):
        call_out(op, arguments, outs)
    return fitting, empty


def backward(op: OpInfo, sample: SampleInput) -> Any:
    """Return the results and the gradients of all inputs."""
    results, differentiable = outputs(op, sample)
    if not differentiable:
        return results
    inputs = [x for x in tensors(parts(sample)) if x.requires_grad]
    weights = random_like(differentiable, 1)
    return results, torch.autograd.grad(
        differentiable, inputs, weights, allow_unused=True
    )


# LITERALINCLUDE START: WAYS
WAYS: dict[str, Way] = {
    "forward": forward,
    "in-place": in_place,
    "out": out,
    "backward": backward,
    "refusal": forward,  # of bad arguments
    "strided": forward,  # of views in larger memory
    "in-place view": in_place_view,
    "out view": out_view,
    "out shape": out_shape,
    "out overlap": out_overlap,
    "forward AD": forward_mode,
    "double backward": double_backward,
    "vmap": vmapped,
    "launched": launched,
    "mistakes": forward,  # with one wrong argument
    "schema": forward,  # with generated arguments
}
# LITERALINCLUDE END: WAYS

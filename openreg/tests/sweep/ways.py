# The ways in which the sweep runs an operator; see docs/ship/testing.md.
"""Each is a function of an operator and a sample, for tensors of either device."""

from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves, tree_map

from .compare import WrongValue
from .mirror import mirror, parts, tensors

Way = Callable[[OpInfo, SampleInput], Any]


# LITERALINCLUDE START: WAYS
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
        returned = call(op, arguments, out=outs)
        if returned is None:  # some operators with a list of results
            continue
        for given, got in zip(tree_leaves(outs), tree_leaves(returned), strict=True):
            if given is not got:
                raise WrongValue("the result is not the tensor that was given as out=")
    return fitting, empty


def backward(op: OpInfo, sample: SampleInput) -> Any:
    """Return the results and the gradients of all inputs."""
    results = call(op, sample)
    if sample.output_process_fn_grad is not None:
        results = sample.output_process_fn_grad(results)
    outputs = [x for x in tensors(results) if x.requires_grad]
    if not outputs:
        return results
    inputs = [x for x in tensors(parts(sample)) if x.requires_grad]
    torch.manual_seed(1)
    weights = [torch.randn(x.shape, dtype=x.dtype).to(x.device) for x in outputs]
    return results, torch.autograd.grad(outputs, inputs, weights, allow_unused=True)


WAYS: dict[str, Way] = {
    "forward": forward,
    "in-place": in_place,
    "out": out,
    "backward": backward,
    "refusal": forward,  # of bad arguments
}
# LITERALINCLUDE END: WAYS


def call(function: Callable[..., Any], sample: SampleInput, **more: Any) -> Any:
    return function(sample.input, *sample.args, **sample.kwargs, **more)

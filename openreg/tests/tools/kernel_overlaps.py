# Finds which inputs a kernel must not overwrite; see docs/operators/structured.md.
"""Call the form with out= of an operator with an input as its output."""

import torch
from kernel_samples import Sample, call
from torch.utils._pytree import tree_leaves, tree_map_only


def refused_overlaps(samples: list[Sample]) -> str:
    """The text of KernelDtypes.h: a letter for each tensor argument."""
    found = [
        "".join("x" if _refuses(sample, place) else "." for place in sample.tensors)
        for sample in samples
    ]
    places = ["x" if "x" in letters else "." for letters in zip(*found, strict=True)]
    return "".join(places) if "x" in places else ""


def _refuses(sample: Sample, place: str) -> bool:
    """Whether the CPU's kernel refuses this argument as the output as well.

    Only if both are of one size and dtype: such a call writes within the memory, also
    where the kernel checks nothing.
    """
    out_form = _out_form(sample.op)
    results = [
        x
        for x in tree_leaves(call(sample.op, sample.values))
        if isinstance(x, torch.Tensor)
    ]
    args = tree_map_only(torch.Tensor, torch.Tensor.clone, sample.values)
    given = [x for x in tree_leaves(args[place]) if isinstance(x, torch.Tensor)]
    if out_form is None or not results or not given:
        return False
    if given[0].shape != results[0].shape or given[0].dtype != results[0].dtype:
        return False
    outputs = iter([given[0], *(x.new_empty(0) for x in results[1:])])
    for each in out_form._schema.arguments:
        if each.is_out:
            args[each.name] = next(outputs)
    try:
        call(out_form, args)
    except RuntimeError as error:
        return "unsupported operation" in str(error)
    return False


def _out_form(op: torch._ops.OpOverload) -> torch._ops.OpOverload | None:
    """The form with out= that takes the same arguments."""
    wanted = [(each.name, str(each.real_type)) for each in op._schema.arguments]
    for overload in op.overloadpacket.overloads():
        form = getattr(op.overloadpacket, overload)
        inputs = [
            (each.name, str(each.real_type))
            for each in form._schema.arguments
            if not each.is_out
        ]
        if len(inputs) < len(form._schema.arguments) and inputs == wanted:
            return form
    return None

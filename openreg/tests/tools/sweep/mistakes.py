# Makes calls with one wrong argument out of right ones; see docs/ship/sweep.md.
"""What a user gets wrong: the dtype, the number of dimensions, a size, an argument."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_flatten, tree_unflatten

from .mirror import parts
from .views import is_plain

Change = Callable[[Any], Any]


def _another_dtype(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.int64 if x.dtype.is_floating_point else torch.float32)


def _fewer(x: torch.Tensor) -> torch.Tensor:
    return x[:, :-1] if x.dim() > 1 else x[:-1]


OF_TENSORS: dict[str, Change] = {
    "another dtype": _another_dtype,
    "complex numbers": lambda x: x.to(torch.complex64),
    "a size too small": lambda x: _fewer(x) if x.dim() else None,
    "no elements": lambda x: x[:0] if x.dim() else None,
    "a dimension too few": lambda x: x[0] if x.dim() and len(x) else None,
    "a dimension too many": lambda x: x[None],
}
OF_NUMBERS: dict[str, Change] = {
    "a number too large": lambda x: x + 7,
    "a number too small": lambda x: x - 9,
}


def mistakes(sample: SampleInput) -> Iterator[SampleInput]:
    """Change one argument in one way, for all arguments and all ways."""
    leaves, shape = tree_flatten(parts(sample))
    for place, leaf in enumerate(leaves):
        for change in _changes(leaf).values():
            changed = change(leaf)
            if changed is None:
                continue
            own = [*leaves[:place], changed, *leaves[place + 1 :]]
            value, args, kwargs = tree_unflatten(own, shape)
            yield SampleInput(value, args=args, kwargs=kwargs)


def _changes(leaf: Any) -> dict[str, Change]:
    if is_plain(leaf):
        return OF_TENSORS
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        return OF_NUMBERS
    if isinstance(leaf, str):
        return {"an unknown text": lambda x: x + "?"}
    return {}

# How the lowering describes a block's value; see docs/modules/triton-compiler.md.
"""A tensor is a recipe: C++ for one element, given its indices."""

from collections.abc import Callable
from dataclasses import dataclass

Indices = tuple[str, ...]


@dataclass(frozen=True)
class Affine:
    """Elements are ``base + i0 * steps[0] + i1 * steps[1] + ...``.

    The compiler sees then that addresses follow each other, and vectorizes. Without
    steps all elements are equal, and what is computed of them is computed once.
    """

    base: str
    steps: tuple[str, ...]

    @property
    def uniform(self) -> bool:
        """Whether all elements are equal."""
        return all(step == "0" for step in self.steps)


# For each dimension, elements from this index on are masked off; None: none are.
Limits = tuple[str | None, ...]
# Buffers that an element is computed from; True: only from the element at its place.
Reads = dict[str, bool]


# LITERALINCLUDE START: TRITON_TENSOR
@dataclass(eq=False, frozen=True)
class Tensor:
    """A block's value. ``cost`` counts the operations of one element."""

    shape: tuple[int, ...]
    element: str
    at: Callable[[Indices], str]
    reads: Reads
    cost: int = 0
    buffer: str | None = None
    affine: Affine | None = None
    limits: Limits | None = None


# LITERALINCLUDE END: TRITON_TENSOR


Value = str | Tensor  # a scalar is a C++ expression


def reads_of(*values: Value) -> Reads:
    """Return what an elementwise operation reads."""
    reads: Reads = {}
    for value in values:
        if isinstance(value, Tensor):
            for buffer, in_place in value.reads.items():
                reads[buffer] = in_place and reads.get(buffer, True)
    return reads


def reads_elsewhere(*values: Value) -> Reads:
    """Return what an operation reads that moves elements."""
    return dict.fromkeys(reads_of(*values), False)

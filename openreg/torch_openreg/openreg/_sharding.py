# Registers with DTensor how attention may be split; see docs/modules/sharding.md.
"""Sharding strategies of the operators that torch has no strategy for."""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch.distributed.tensor._dtensor_spec import DTensorSpec
    from torch.distributed.tensor.placement_types import Placement

    # The placements of all results, and those of all arguments; None: no tensor.
    Strategy = tuple[list["Placement | None"], list["Placement | None"]]

_DTENSOR = "torch.distributed.tensor"
_BATCH, _HEADS, _LENGTH = 0, 1, 2  # dimensions of query, key, value and output


# LITERALINCLUDE START: SHARDING_ATTENTION
def _forward(
    query: "DTensorSpec",
    key: "DTensorSpec",
    value: "DTensorSpec",
    bias: "DTensorSpec | None" = None,
    *options: object,
    **scale: object,
) -> list["Strategy"]:
    """Return how the arguments of attention may be placed, with its results."""
    from torch.distributed.tensor import Replicate

    whole = Replicate()
    strategies: list[Strategy] = []
    for place in _places(query, key):
        results = [place, place, None, None, None, None, whole, whole, None]  # (1)
        arguments = [place, place, place, _bias(bias, place), *_none(options)]
        strategies.append((results, arguments))
    return strategies


# LITERALINCLUDE END: SHARDING_ATTENTION


# LITERALINCLUDE START: SHARDING_ATTENTION_BACKWARD
def _backward(
    grad: "DTensorSpec",
    query: "DTensorSpec",
    key: "DTensorSpec",
    value: "DTensorSpec",
    bias: "DTensorSpec | None",
    *saved: object,
    **scale: object,
) -> list["Strategy"]:
    """Return how the arguments of its backward may be placed, with the gradients."""
    from torch.distributed.tensor import Partial, Replicate, Shard

    whole = Replicate()
    strategies: list[Strategy] = []
    for place in _places(query, key):
        of_bias = _bias(bias, place)
        shared = isinstance(place, Shard) and of_bias == whole
        results = [place, place, place, Partial() if shared else of_bias]  # (1)
        out_lse = [None, place, place, *_none(saved[3:-2]), whole, whole]
        strategies.append((results, [place, place, place, place, of_bias, *out_lse]))
    return strategies


# LITERALINCLUDE END: SHARDING_ATTENTION_BACKWARD


def _none(options: Sequence[object]) -> list[None]:
    """Return a placement for each argument that is no tensor."""
    return [None] * len(options)


def _places(query: "DTensorSpec", key: "DTensorSpec") -> list["Placement"]:
    """Return the common placements of query, key, value and output.

    The kernel rejects empty tensors, so no rank may get an empty part. A head of keys
    must be on the rank of its query heads, so uneven parts are not possible.

    Raises:
        NotImplementedError: each rank has a part of the sequence. Torch's context
            parallelism uses this placement and treats the result as a part, even if
            DTensor gathered the whole. So gathering would be silently wrong there. It
            calls another operator: csrc/aten/host/Attention.cpp.
    """
    from torch.distributed.tensor import Replicate, Shard

    if Shard(_LENGTH) in query.placements:
        raise NotImplementedError(
            "openreg: attention on DTensor: the query is split along the sequence "
            f"(Shard({_LENGTH})), which the kernel does not support; redistribute to "
            f"Shard({_BATCH}), Shard({_HEADS}) or Replicate(). For context "
            "parallelism, use sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION)"
        )

    ranks = max(query.mesh.shape)
    places: list[Placement] = [Replicate()]
    batch, heads, kv_heads = query.shape[_BATCH], query.shape[_HEADS], key.shape[_HEADS]
    if -(-batch // ranks) * (ranks - 1) < batch:
        places.append(Shard(_BATCH))
    if kv_heads % ranks == 0 and heads % ranks == 0:
        places.append(Shard(_HEADS))
    return places


def _bias(bias: "DTensorSpec | None", place: "Placement") -> "Placement | None":
    """Return the placement of the bias; a dimension may be missing, or of size 1."""
    from torch.distributed.tensor import Replicate, Shard

    if bias is None:
        return None
    if not isinstance(place, Shard):
        return place
    own = len(bias.shape) - 4 + place.dim
    return Shard(own) if own >= 0 and bias.shape[own] > 1 else Replicate()


# LITERALINCLUDE START: SHARDING_ADD
def _add_strategies() -> None:
    from torch.distributed.tensor.experimental import register_sharding

    attention = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
    backward = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward
    register_sharding(attention.default)(_forward)
    register_sharding(backward.default)(_backward)


# LITERALINCLUDE END: SHARDING_ADD


class _Loader(importlib.abc.Loader):
    """Runs a module with the loader that it would have, then adds the strategies."""

    def __init__(self, own: importlib.abc.Loader) -> None:
        self._own = own

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    # LITERALINCLUDE START: SHARDING_LOADER
    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._own
        self._own.exec_module(module)
        _add_strategies()
        # LITERALINCLUDE END: SHARDING_LOADER


# LITERALINCLUDE START: SHARDING_REGISTER
class _Finder:
    """Finds DTensor where the finders behind it do, and wraps its loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _DTENSOR:
            return None
        rest = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (finder.find_spec(name, path, target) for finder in rest)
        spec = next(filter(None, found), None)  # (1)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def _register() -> None:
    """Add the strategies as soon as a program imports DTensor, and not before."""
    if _DTENSOR in sys.modules:
        _add_strategies()
    else:
        sys.meta_path.insert(0, _Finder())  # (2)


# LITERALINCLUDE END: SHARDING_REGISTER

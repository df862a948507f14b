# What a call comes to on the CPU and on the device; see docs/operators/layouts.md.
"""Run a call on both devices and tell how the outcomes differ: errors are outcomes."""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves, tree_map

COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}
LOOSE = {torch.float16: 1e-3, torch.bfloat16: 1e-2}


class Difference(Exception):
    """The device does something else than the CPU."""


def members(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the dense tensors of which a tensor is made."""
    plain = tensor.detach()
    if plain.layout == torch.sparse_coo:
        return [plain._indices(), plain._values()]
    return [getattr(plain, name)() for name in COMPRESSED.get(plain.layout, ())] or [
        plain
    ]


def description(tensor: torch.Tensor) -> dict[str, Any]:
    """Return all but the elements."""
    found = {
        name: getattr(tensor, name)
        for name in ("dtype", "layout", "shape", "requires_grad")
    }
    if tensor.layout == torch.sparse_coo:
        found |= {"coalesced": tensor.is_coalesced(), "dims": tensor.sparse_dim()}
    return found


def copied(tree: Any, device: str) -> Any:
    """Copy a tree of arguments. What is one tensor there is one tensor here."""
    copies: dict[int, torch.Tensor] = {}

    def copy(leaf: Any) -> Any:
        if isinstance(leaf, torch.device):
            return torch.device(device)
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) not in copies:
            made = leaf.detach().clone().to(device)
            copies[id(leaf)] = made.requires_grad_(leaf.requires_grad)
        return copies[id(leaf)]

    return tree_map(copy, tree)


def compare(actual: Any, expected: Any) -> None:
    """Raise Difference unless the results are alike, members and all."""
    if isinstance(expected, torch.Tensor):
        if actual.device.type != "openreg" and expected.device.type == "cpu":
            raise Difference(f"a result on {actual.device}")
        found, wanted = description(actual), description(expected)
        if found != wanted:
            raise Difference(f"{found} instead of {wanted}")
        for ours, theirs in zip(members(actual), members(expected), strict=True):
            loose = LOOSE.get(theirs.dtype)
            try:
                assert_close(ours.cpu(), theirs, equal_nan=True, rtol=loose, atol=loose)
            except AssertionError as error:
                raise Difference(" ".join(str(error).split())) from None
    elif isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            raise Difference(f"{len(actual)} results instead of {len(expected)}")
        for one, other in zip(actual, expected, strict=True):
            compare(one, other)
    elif isinstance(expected, torch.device):
        compare(actual.type, "openreg" if expected.type == "cpu" else expected.type)
    elif actual != expected and expected == expected:
        raise Difference(f"{actual!r} instead of {expected!r}")


def _outcome(call: Callable[..., Any], tree: Any, device: str) -> tuple[Any, Any]:
    """Return the arguments afterwards, and the result or the error."""
    arguments = copied(tree, device)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call(*arguments)
    except Exception as error:
        result = error
    try:
        torch.openreg.synchronize()
    except RuntimeError as stopped:
        torch.openreg.simulator.reset()
        raise Difference(f"the device stopped: {stopped}") from None
    return arguments, result


def _compare_outcomes(ours: Any, theirs: Any) -> None:
    failed = [isinstance(result, Exception) for result in (ours, theirs)]
    if failed == [False, False]:
        compare(ours, theirs)
    elif failed != [True, True] or type(ours) is not type(theirs):
        raise Difference(f"{ours!r} instead of {theirs!r}"[:400])
    elif "INTERNAL ASSERT" in str(ours) and "INTERNAL ASSERT" not in str(theirs):
        raise Difference(f"an internal assertion instead of {theirs!r}")


def difference(call: Callable[..., Any], *tree: Any) -> tuple[str, bool]:
    """Run ``call`` with copies of the arguments on both devices.

    Return how the device differs, empty if it does not, and whether the CPU succeeded.
    """
    expected, theirs = _outcome(call, tree, "cpu")
    succeeded = not isinstance(theirs, Exception)
    try:
        actual, ours = _outcome(call, tree, "openreg")
        _compare_outcomes(ours, theirs)
        if succeeded:
            compare(tree_leaves(actual), tree_leaves(expected))
    except Difference as found:
        return str(found)[:400], succeeded
    return "", succeeded


def with_gradients(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let a call also return the gradients of its arguments."""

    def run(*tree: Any) -> Any:
        results = call(*tree)
        outputs = [
            leaf
            for leaf in tree_leaves(results)
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad
        ]
        inputs = [
            leaf
            for leaf in tree_leaves(tree)
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad
        ]
        if not outputs or not inputs:
            return results
        seeds = [output.detach() * 3 for output in outputs]
        return results, torch.autograd.grad(outputs, inputs, seeds, allow_unused=True)

    return run

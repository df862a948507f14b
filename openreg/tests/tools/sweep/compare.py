# Compares results on the device with those on the CPU; see docs/ship/sweep.md.
from typing import Any

import torch
from torch.testing import assert_close
from torch.utils._pytree import tree_flatten

from .calls import WrongValue
from .mirror import tensors

ROUNDINGS = {
    torch.bfloat16: {"rtol": 0.05, "atol": 0.02},
    torch.float16: {"rtol": 0.01, "atol": 0.001},
}


class WrongDevice(AssertionError):
    """A result is not on the device."""


def compare(
    actual: Any,
    expected: Any,
    *,
    device: str,
    values: bool,
    strides: bool,
    rounded_elsewhere: bool = False,
) -> None:
    """Compare two trees of results.

    Args:
        device: where ``actual`` belongs.
        values: whether the values must also be the same.
        strides: whether the strides must also be the same.
        rounded_elsewhere: whether values in bfloat16 and float16 may differ by several
            roundings.
    """
    actual_leaves, actual_shape = tree_flatten(actual)
    expected_leaves, expected_shape = tree_flatten(expected)
    if str(actual_shape) != str(expected_shape):
        raise WrongValue(f"{actual_shape} instead of {expected_shape}")
    for index, (a, e) in enumerate(zip(actual_leaves, expected_leaves, strict=True)):
        try:
            if isinstance(a, torch.Tensor) and isinstance(e, torch.Tensor):
                _compare_tensors(a, e, device, strides)
                if values:
                    _compare_values(a.detach(), e.detach(), rounded_elsewhere)
            elif type(a) is not type(e) or (values and not _same(a, e, device)):
                raise WrongValue(f"{a!r} instead of {e!r}")
        except AssertionError as error:
            kind = type(error) if isinstance(error, WrongDevice) else WrongValue
            raise kind(f"result {index}: {error}") from None


def compare_sharing(
    actual: Any, its_inputs: Any, expected: Any, expected_inputs: Any
) -> None:
    """Check that the results share memory with the same inputs."""
    found, wanted = sharing(actual, its_inputs), sharing(expected, expected_inputs)
    if found != wanted:
        raise WrongValue(f"shares memory with inputs {found} instead of {wanted}")


def _compare_tensors(
    actual: torch.Tensor,
    expected: torch.Tensor,
    device: str,
    strides: bool,
) -> None:
    if expected.device.type == "cpu" and actual.device != torch.device(device):
        raise WrongDevice(f"on {actual.device} instead of {device}")
    for name in ("dtype", "layout", "shape", "requires_grad"):
        found, wanted = getattr(actual, name), getattr(expected, name)
        if found != wanted:
            raise WrongValue(f"{name} {found} instead of {wanted}")
    if strides and _strides(actual) != _strides(expected):
        raise WrongValue(f"strides {_strides(actual)} instead of {_strides(expected)}")


def _compare_values(
    actual: torch.Tensor, expected: torch.Tensor, rounded_elsewhere: bool
) -> None:
    # The same kernels run for both. Only how they split their work may differ.
    tolerance = {"equal_nan": True}
    if rounded_elsewhere:
        tolerance |= ROUNDINGS.get(expected.dtype, {})
    assert_close(actual.cpu(), expected, **tolerance)


def _strides(tensor: torch.Tensor) -> list[int]:
    """Return the strides that matter."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return []
    both = zip(tensor.shape, tensor.stride(), strict=True)
    return [stride for size, stride in both if size > 1]


def _same(actual: Any, expected: Any, device: str) -> bool:
    if isinstance(expected, str | torch.device) and str(expected) == "cpu":
        return str(actual) == device
    if isinstance(expected, torch.Generator):
        return True  # each device draws its own numbers
    if isinstance(expected, torch.UntypedStorage):
        return actual.tolist() == expected.tolist()
    both_nan = actual != actual and expected != expected
    return actual == expected or both_nan


def sharing(results: Any, inputs: Any) -> list[list[int]]:
    """For each result, tell with which inputs it shares memory."""
    memory = [_memory(x) for x in tensors(inputs)]
    found = [_memory(x) for x in tensors(results)]
    return [[i for i, other in enumerate(memory) if one == other] for one in found]


def _memory(tensor: torch.Tensor) -> int:
    strided = tensor.layout == torch.strided and not tensor.is_meta
    return tensor.untyped_storage()._cdata if strided else id(tensor)

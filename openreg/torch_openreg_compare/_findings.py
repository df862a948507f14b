# Reports how two results differ, and how to reproduce it; see docs/ship/parity.md.
"""One operator out of tolerance: the numbers, the place, and a program to repeat it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves

from torch_openreg_compare._twins import extent, flat

Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Tolerance:
    """What assert_close takes: both, or neither for the defaults of each dtype."""

    rtol: float | None = None
    atol: float | None = None


@dataclass
class Place:
    """Where in the model an operator was called."""

    phase: str  # "setup", "forward" or "backward"
    module: str = ""
    line: str = ""


@dataclass
class Finding:
    """An operator whose results are out of tolerance."""

    number: int  # of the operator in the run
    function: Any  # torch._ops.OpOverload
    place: Place
    call: Call  # the CPU's arguments
    device: torch.device
    difference: str
    itself: str | None  # the difference with the CPU's inputs; None: there is none
    device_error: float | None  # against float64
    cpu_error: float | None


def difference(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    """Return how two results differ beyond the tolerance, or None."""
    try:
        assert_close(
            actual.detach().cpu() if isinstance(actual, Tensor) else actual,
            expected,
            rtol=tolerance.rtol,
            atol=tolerance.atol,
            equal_nan=True,
            check_device=False,
        )
    except AssertionError as error:
        return str(error)
    return None


def first_difference(pairs: list[tuple[Any, Any]], tolerance: Tolerance) -> str | None:
    """Return how the first pair differs that does."""
    found = (difference(actual, expected, tolerance) for actual, expected in pairs)
    return next((text for text in found if text is not None), None)


def largest(results: list[Any], exact: list[Any]) -> float | None:
    """Return the largest error of floats; a NaN where none belongs counts as inf."""
    errors = [
        (value.detach().cpu().double() - right.double()).abs()
        for value, right in zip(results, exact, strict=False)  # exact may be empty
        if isinstance(value, Tensor)
        and value.is_floating_point()
        and value.shape == right.shape
    ]
    tops = [
        error.nan_to_num(nan=float("inf")).max() for error in errors if error.numel()
    ]
    return max(map(float, tops), default=None)


def upcast(value: Any) -> Any:
    """Return the argument in float64, where it is a float of fewer bits."""
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.to(torch.float64, copy=True)
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, torch.dtype) and value.is_floating_point:
        return torch.float64
    return value


def described(call: Call) -> Iterator[str]:
    """Yield a line for each tensor among the arguments."""
    for number, tensor in enumerate(_tensors(call)):
        kind = str(tensor.dtype).removeprefix("torch.")
        strides = tensor.stride() if tensor.layout is torch.strided else tensor.layout
        yield f"[{number}] {kind} {tuple(tensor.size())}, strides {strides}"


def snippet(finding: Finding, saved: Path | None) -> str:
    """Return a program that shows the difference, without the model."""
    tensors = _tensors(finding.call)
    lines = ["import torch", "from torch.testing import assert_close, make_tensor", ""]
    lines += ["def call(device):", "    torch.manual_seed(0)"]
    if saved is not None:
        lines.append(f"    t = [x.to(device) for x in torch.load({str(saved)!r})]")
    else:
        lines.append("    t = [  # random numbers; --save keeps the real ones")
        lines += [f"        {_made(tensor)}.to(device)," for tensor in tensors]
        lines.append("    ]")
    lines += [
        f"    t[{number}] = t[{number}].as_strided({tuple(x.size())}, {x.stride()})"
        for number, x in enumerate(tensors)
        if _has_gaps(x)
    ]
    args, kwargs = finding.call
    names = iter(range(len(tensors)))
    texts = [_text(value, names) for value in args]
    texts += [f"{name}={_text(value, names)}" for name, value in kwargs.items()]
    lines += [f"    return torch.ops.{finding.function}({', '.join(texts)})", ""]
    device = str(finding.device.type)
    lines += [f'assert_close(call("{device}"), call("cpu"), check_device=False)']
    return "\n".join(lines)


def save_inputs(finding: Finding, path: Path) -> None:
    """Write the tensors among the arguments for the program above."""
    tensors = _tensors(finding.call)
    torch.save([flat(x) if _has_gaps(x) else x.clone() for x in tensors], path)


def _tensors(call: Call) -> list[Tensor]:
    return [value for value in tree_leaves(call) if isinstance(value, Tensor)]


def _has_gaps(tensor: Tensor) -> bool:
    """Whether a copy to the device would change the strides."""
    return tensor.layout is torch.strided and not tensor.is_contiguous()


def _made(tensor: Tensor) -> str:
    """Return an expression for random numbers in the memory of a tensor."""
    size = (extent(tensor),) if _has_gaps(tensor) else tuple(tensor.size())
    return f'make_tensor({size}, dtype={tensor.dtype}, device="cpu")'


def _text(value: Any, names: Iterator[int]) -> str:
    """Return an argument as Python text; tensors are elements of `t`."""
    if isinstance(value, Tensor):
        return f"t[{next(names)}]"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(item, names) for item in value) + "]"
    if isinstance(value, torch.device):
        return "device"
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return f'float("{value}")'
    return repr(value)

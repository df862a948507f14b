# Level 5: PyTorch's operator database; see docs/ship/conformance.md.
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from torch_conformance._case import Area
from torch_conformance._device import Device
from torch_conformance._outcome import Missing

area = Area(
    "database",
    level=5,
    stage=5,
    page="ship/sweep",
    implement="the kernels of the operators that are named",
)
PARTS = 4
DTYPES = ("float32", "bfloat16", "int64", "bool", "complex64")
LISTED = 12
HOST_ONLY = {"tensor_split"}  # its tensor of sections must be on the CPU


def _body(dtype: torch.dtype, part: int) -> Callable[[Device], None]:
    def body(d: Device) -> None:
        try:
            from torch.testing._internal.common_methods_invocations import op_db
        except ImportError as error:
            raise Missing(f"the database needs {error.name}: install it") from error
        chosen = [
            op
            for op in op_db
            if op.supports_dtype(dtype, "cpu") and op.name not in HOST_ONLY
        ]
        found = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a report has no room for them
            for op in chosen[part::PARTS]:
                d.step(f"{op.formatted_name}; the operators behind it did not run")
                if text := _verdict(op, d, dtype):
                    found[op.formatted_name] = text
        if found:
            lines = [f"{name}: {text}" for name, text in list(found.items())[:LISTED]]
            text = "\n".join([f"{len(found)} operators", *lines])
            missing = all(text.startswith("missing") for text in found.values())
            raise (Missing if missing else AssertionError)(text)

    return body


def _verdict(op: Any, d: Device, dtype: torch.dtype) -> str:
    """Compare the first sample of an operator; return what is wrong, or nothing."""
    sample = next(iter(op.sample_inputs("cpu", dtype)), None)
    if sample is None:
        return ""
    arguments = (sample.input, sample.args, sample.kwargs)
    drawn = _Random()
    try:
        with drawn:  # the values of conjugated views may differ in here
            _results(op, arguments, "cpu")
        expected = _results(op, arguments, "cpu")
    except Exception:
        return ""  # the CPU shows nothing to compare with
    try:
        actual = _results(op, arguments, d.type)
        d.settle()
    except NotImplementedError as error:
        return f"missing: {error}".partition("\n")[0][:160]
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0][:160]
    if len(actual) != len(expected):
        return f"{len(actual)} results instead of {len(expected)}"
    for ours, theirs in zip(actual, expected, strict=True):
        if text := _difference(ours, theirs, drawn.found):
            return text
    return ""


class _Random(TorchDispatchMode):
    """Whether an operator drew random numbers, which no two devices share."""

    found = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        empty = func.name().startswith(("aten::empty", "aten::new_empty"))
        self.found |= empty or torch.Tag.nondeterministic_seeded in func.tags
        return func(*args, **(kwargs or {}))


def _results(op: Any, arguments: Any, place: str) -> list[torch.Tensor]:
    """Call an operator on copies of its arguments, on a device."""

    def moved(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().to(place, copy=True)
        if isinstance(value, torch.device) or value == "cpu":
            return torch.device(place)
        return value

    first, others, named = tree_map(moved, arguments)
    found = tree_leaves(op(first, *others, **named))
    return [value for value in found if isinstance(value, torch.Tensor)]


def _difference(ours: torch.Tensor, theirs: torch.Tensor, random: bool) -> str:
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        wanted = f"{theirs.dtype} and {tuple(theirs.shape)}"
        return f"{ours.dtype} and {tuple(ours.shape)} instead of {wanted}"
    if random or theirs.layout != torch.strided:
        return ""
    try:
        torch.testing.assert_close(
            ours.cpu().resolve_conj(), theirs.resolve_conj(), equal_nan=True
        )
    except AssertionError as error:
        lines = str(error).splitlines()
        return " ".join(line for line in lines if line)[:160]
    return ""


for _dtype in DTYPES:
    for _part in range(PARTS):
        area.add(
            f"{_dtype}_{_part}",
            f"Operators of the database have the CPU's values for {_dtype}, "
            f"part {_part + 1} of {PARTS}.",
            _body(getattr(torch, _dtype), _part),
        )

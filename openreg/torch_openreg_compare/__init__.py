# Finds the first operator that differs from the CPU; see docs/ship/parity.md.
"""``python -m torch_openreg_compare [--device NAME] model.py``, or in a program::

    report = compare(model, inputs, "cuda")
    print(report.show())

This package imports torch and no backend: copy the folder to use it for any device.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from torch_openreg_compare._findings import (
    Finding,
    Tolerance,
    described,
    first_difference,
    save_inputs,
    snippet,
)
from torch_openreg_compare._mode import Comparison

__all__ = ["Comparison", "Finding", "Report", "Tolerance", "compare"]

MOST = 8  # lines about operators after the first


@dataclass
class Report:
    """What a comparison found."""

    operators: int
    findings: list[Finding]
    unchecked: dict[str, int]
    random: dict[str, int]
    result: str | None  # how the end differs from a run on the CPU alone

    def causes(self) -> list[Finding]:
        """Return the operators that are wrong even with right arguments."""
        return [finding for finding in self.findings if finding.itself is not None]

    def show(self, save: Path | None = None) -> str:
        """Return the report for people to read; `save` keeps the first inputs."""
        causes = self.causes()
        lines = [
            f"{self.operators} operators compared, {len(self.findings)} out of "
            f"tolerance, {len(causes)} of them even with the CPU's inputs"
        ]
        for title, counts in (
            ("fed with the CPU's random numbers", self.random),
            ("not compared, the CPU has no kernel", self.unchecked),
        ):
            if counts:
                texts = [f"{name} {count}" for name, count in counts.items()]
                lines.append(f"{title}: {', '.join(texts)}")
        if self.result is not None:
            lines += ["the result differs from a run on the CPU alone:"]
            lines += _indented(self.result)
        first = next(iter(causes or self.findings), None)
        if first is None:
            return "\n".join(lines)
        if save is not None:
            save_inputs(first, save)
        lines += ["", *_shown(first), "  to repeat it:", ""]
        lines += _indented(snippet(first, save), "    ")
        others = [finding for finding in self.findings if finding is not first]
        if others:
            lines += ["", "the others:"]
        for other in others[:MOST]:
            why = "a cause" if other.itself else "its inputs differ"
            lines.append(f"  {_named(other)}: {why}")
        if len(others) > MOST:
            lines.append(f"  and {len(others) - MOST} more")
        return "\n".join(lines)


def compare(
    model: Callable[..., Any],
    inputs: tuple[Any, ...],
    device: torch.device | str,
    *,
    backward: bool = True,
    feed: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> Report:
    """Run a model on the device and compare each of its operators with the CPU."""
    tolerance = Tolerance(rtol, atol)
    mode = Comparison(device, feed=feed, tolerance=tolerance)
    torch.manual_seed(seed)
    actual = _run(model, inputs, torch.device(device), backward, mode)
    result = None
    if not mode.random:  # otherwise both draw other numbers
        expected = _run(model, inputs, torch.device("cpu"), backward, None)
        result = first_difference(list(zip(actual, expected, strict=True)), tolerance)
    return Report(
        mode.number, mode.findings, dict(mode.unchecked), dict(mode.random), result
    )


def _run(
    model: Callable[..., Any],
    inputs: tuple[Any, ...],
    device: torch.device,
    backward: bool,
    mode: Comparison | None,
) -> list[Tensor]:
    """Return the results and the gradients of a copy of the model."""
    model = copy.deepcopy(model)
    if mode is not None and isinstance(model, nn.Module):
        mode.watch(model)

    def put(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value.detach().to(device).requires_grad_(value.requires_grad)

    def body() -> list[Tensor]:
        if isinstance(model, nn.Module):
            model.to(device)
        args = tree_map(put, inputs)
        outputs = [x for x in tree_leaves(model(*args)) if isinstance(x, Tensor)]
        if not backward:
            return outputs
        roots = [output for output in outputs if output.requires_grad]
        numbers = torch.Generator().manual_seed(0)  # a sum would hide mixed-up elements
        starts = [torch.rand(x.shape, generator=numbers).to(x) for x in roots]
        torch.autograd.backward(roots, starts)
        leaves = [*args, *(model.parameters() if isinstance(model, nn.Module) else ())]
        gradients = [x.grad for x in tree_leaves(leaves) if isinstance(x, Tensor)]
        return [*outputs, *(x for x in gradients if x is not None)]

    if mode is None:
        return body()
    with mode:
        return body()


def _named(finding: Finding) -> str:
    where = f" in {finding.place.module}" if finding.place.module else ""
    return f"{finding.function}, {finding.place.phase}{where}"


def _shown(finding: Finding) -> list[str]:
    """Return the lines about the first finding."""
    lines = [f"the first: {_named(finding)}, operator {finding.number}"]
    lines += [f"  called from {finding.place.line}"] if finding.place.line else []
    lines += [f"  input {text}" for text in described(finding.call)]
    lines += _indented(finding.difference)
    itself = finding.itself
    lines.append(
        "  with the CPU's inputs: " + ("differs" if itself else "within tolerance")
    )
    if finding.device_error is not None and finding.cpu_error is not None:
        lines.append(
            f"  largest error against float64: device {finding.device_error:.1e}, "
            f"CPU {finding.cpu_error:.1e}"
        )
    return lines


def _indented(text: str, by: str = "  ") -> list[str]:
    return [by + line if line else "" for line in text.splitlines()]

# Runs each operator on the device and on the CPU; see docs/ship/parity.md.
"""The dispatch mode: every operator of the device also runs on the CPU."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from torch_openreg_compare._findings import (
    Call,
    Finding,
    Place,
    Tolerance,
    first_difference,
    largest,
    upcast,
)
from torch_openreg_compare._twins import duplicate, forget, has_twin, settle, twin

OWN = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
PLAIN = {Tensor, nn.Parameter}
# The results are uninitialized memory: their values mean nothing.
UNWRITTEN = ("aten::empty", "aten::new_empty", "aten::resize_", "aten::set_")
# They write to running statistics, which their schema does not declare.
BATCH_NORM = "batch_norm"


class Comparison(TorchDispatchMode):
    """Compares each operator that runs on the device with the CPU.

    Use it as a context around any code, for example a step with its optimizer. With
    `feed`, the CPU's results replace the device's, so that each operator starts right.
    """

    def __init__(
        self,
        device: torch.device | str,
        *,
        feed: bool = False,
        tolerance: Tolerance | None = None,
    ) -> None:
        super().__init__()
        self.device = torch.device(device)
        self.feed = feed
        self.tolerance = tolerance or Tolerance()
        self.findings: list[Finding] = []
        self.unchecked: Counter[str] = Counter()  # no kernel of the CPU
        self.random: Counter[str] = Counter()  # fed with the CPU's numbers
        self.number = 0
        self.phase = "forward"
        self._modules: list[str] = []
        self._places: dict[int, Place] = {}  # by the number of the node of autograd

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run an operator on both, compare, and return the device's result."""
        call: Call = (args, kwargs or {})
        if set(types) - PLAIN:  # a subclass: compare the operators that it calls
            return NotImplemented
        if not any(map(self._concerns, tree_leaves(call))):
            return func(*args, **call[1])
        self.number += 1
        return self._compare(func, call, self._place())

    # LITERALINCLUDE START: COMPARE_OPERATOR
    def _compare(self, func: Any, call: Call, place: Place) -> Any:
        with torch.no_grad():
            on_cpu = tree_map(self._to_cpu, call)  # (1)
            before = tree_map(duplicate, on_cpu) if func._schema.is_mutable else on_cpu
        result = func(*call[0], **call[1])
        with torch.no_grad():
            try:
                expected = func(*on_cpu[0], **on_cpu[1])
            except (NotImplementedError, RuntimeError):  # (2)
                self.unchecked[str(func)] += 1
                self._adopt(func, call, result)
                return result
            mine = _results(func, call, result)  # (3)
            wanted = _results(func, on_cpu, expected)
            pairs = list(zip(mine, wanted, strict=True))
            return self._judge(func, place, (call, before), result, expected, pairs)

    # LITERALINCLUDE END: COMPARE_OPERATOR
    def _judge(
        self,
        func: Any,
        place: Place,
        calls: tuple[Call, Call],
        result: Any,
        expected: Any,
        pairs: list[tuple[Any, Any]],
    ) -> Any:
        call, before = calls
        if func._schema.name.startswith(UNWRITTEN):
            self._adopt(func, call, result)
            return result
        is_random = torch.Tag.nondeterministic_seeded in func.tags
        if is_random:
            self.random[str(func)] += 1
        elif text := first_difference(pairs, self.tolerance):
            self._report(func, place, call, before, text, pairs)
        for mine, wanted in pairs:
            if not isinstance(mine, Tensor):
                continue
            if mine.shape != wanted.shape or mine.dtype != wanted.dtype:
                forget(mine)  # nothing to compare from here on
                continue
            if (is_random or self.feed) and not func.is_view:
                mine.copy_(wanted)
            settle(mine, wanted)
        scalar = self.feed and not isinstance(result, (Tensor, list, tuple, type(None)))
        return expected if scalar else result

    def _report(
        self,
        func: Any,
        place: Place,
        call: Call,
        before: Call,
        text: str,
        pairs: list[tuple[Any, Any]],
    ) -> None:
        """Add a finding: is the operator wrong by itself, or were its arguments?"""
        # LITERALINCLUDE START: COMPARE_ALONE
        again = tree_map(self._to_device, call, before)
        alone = _results(func, again, func(*again[0], **again[1]))
        wanted = [value for _, value in pairs]
        itself = first_difference(list(zip(alone, wanted, strict=True)), self.tolerance)
        if itself is None and func.is_view:
            return  # it only shows what its input has
        # LITERALINCLUDE END: COMPARE_ALONE
        exact = self._in_float64(func, before)
        self.findings.append(
            Finding(
                number=self.number,
                function=func,
                place=place,
                call=tree_map(duplicate, before),
                device=self.device,
                difference=text,
                itself=itself,
                device_error=largest(alone, exact),
                cpu_error=largest(wanted, exact),
            )
        )

    def _in_float64(self, func: Any, before: Call) -> list[Any]:
        """Return the results of the CPU with more bits, as far as it has them."""
        call: Call = tree_map(upcast, before)
        try:
            return _results(func, call, func(*call[0], **call[1]))
        except (NotImplementedError, RuntimeError):
            return []

    def _concerns(self, value: Any) -> bool:
        if isinstance(value, Tensor):
            return value.device.type == self.device.type or has_twin(value)
        return isinstance(value, torch.device) and value.type == self.device.type

    def _to_cpu(self, value: Any) -> Any:
        """Return what the CPU's call gets in place of an argument."""
        if isinstance(value, Tensor):
            return twin(value) if self._concerns(value) else value
        if isinstance(value, torch.device):
            return torch.device("cpu")
        return None if isinstance(value, torch.Generator) else value

    def _to_device(self, original: Any, value: Any) -> Any:
        """Return the CPU's argument, on the device of the original one."""
        if isinstance(value, Tensor):
            return duplicate(value, original.device)
        return original if isinstance(original, torch.device) else value

    def _adopt(self, func: Any, call: Call, result: Any) -> None:
        """Without a CPU result, continue with the values of the device."""
        for mine in _results(func, call, result):
            if isinstance(mine, Tensor):
                forget(mine)

    def watch(self, model: nn.Module) -> None:
        """Keep the path of the module that runs."""
        for name, module in model.named_modules():
            label = f"{name or 'the model'} ({type(module).__name__})"

            def enter(*_: Any, label: str = label) -> None:
                self._modules.append(label)

            def leave(*_: Any) -> None:
                self._modules.pop()

            module.register_forward_pre_hook(enter)
            module.register_forward_hook(leave, always_call=True)

    def _place(self) -> Place:
        """Where the operator was called; in backward, where its forward was."""
        node = torch._C._current_autograd_node()
        if node is not None:
            made = self._places.get(node._sequence_nr(), Place(""))
            return Place(f"backward, {node.name()}", made.module, made.line)
        module = self._modules[-1] if self._modules else ""
        place = Place(self.phase, module, _line())
        # Autograd made the node just before, and has counted it.
        self._places.setdefault(torch.autograd._get_sequence_nr() - 1, place)
        return place


def _line() -> str:
    """Return the innermost line that belongs neither to torch nor to this tool."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(OWN) and Path(file).is_file():
            return f"{Path(file).name}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def _results(func: Any, call: Call, result: Any) -> list[Any]:
    """Return what a call returned, and the arguments that it wrote to."""
    found = tree_leaves(result)
    all_written = BATCH_NORM in func._schema.name
    for number, argument in enumerate(func._schema.arguments):
        info = argument.alias_info
        if all_written or (info is not None and info.is_write):
            found += _argument(call, number, argument.name)
    return found


def _argument(call: Call, number: int, name: str) -> list[Any]:
    """Return the tensors of one argument."""
    args, kwargs = call
    value = args[number] if number < len(args) else kwargs.get(name)
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]

# What the toy chip compiler writes, and the chip that runs it; see
# docs/modules/graph-only.md.
"""A binary is JSON: segments of instructions that each run in one place.

A chip segment is one launch. The simulated chip copies the inputs, contiguous, into its
own memory, runs the instructions there and copies the outputs back. PyTorch's CPU
kernels stand for its arithmetic. A host segment holds operators that the chip lacks.
"""

import json
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

Named = dict[str, Any]


@dataclass
class Counts:
    """What the compiler and the chip did."""

    compilations: int = 0
    launches: int = 0
    host: Counter[str] = field(default_factory=Counter)


COUNTS = Counts()


@dataclass
class Instruction:
    """One operator; a value is the name of the instruction that makes it."""

    name: str
    target: str
    args: list[Any]
    kwargs: Named


@dataclass
class Segment:
    """Instructions that run in one place: "chip" or "host"."""

    place: str
    instructions: list[Instruction]
    inputs: list[str]
    outputs: list[str]


@dataclass
class Binary:
    """A compiled graph; ``writes`` are results that replace an input's data."""

    target: str
    inputs: list[str]
    segments: list[Segment]
    outputs: list[Any]
    writes: dict[str, str]

    def dumps(self) -> str:
        """Return the text that a file of the disk cache holds."""
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> "Binary":
        """Read what ``dumps`` wrote."""
        made = Binary(**json.loads(text))
        for i, segment in enumerate(made.segments):
            made.segments[i] = one = Segment(**segment)  # type: ignore[arg-type]
            one.instructions = [Instruction(**x) for x in one.instructions]  # type: ignore[arg-type]
        return made

    def run(self, values: Sequence[Any], device: torch.device) -> list[Any]:
        """Run all segments on tensors of the device."""
        env = dict(zip(self.inputs, values, strict=True))
        for segment in self.segments:
            taken = {name: _to_host(env[name]) for name in segment.inputs}
            if segment.place == "chip":
                COUNTS.launches += 1
            with torch.no_grad():
                _execute(segment, taken, device)
            env |= {
                name: tree_map_only(torch.Tensor, lambda x: x.to(device), taken[name])
                for name in segment.outputs
            }
        for name, result in self.writes.items():
            env[name].copy_(env[result])
        return [decode(x, env) for x in self.outputs]


def _to_host(value: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda x: x.detach().cpu().contiguous(), value)


def _execute(segment: Segment, env: Named, device: torch.device) -> None:
    for step in segment.instructions:
        function = resolve(step.target)
        if segment.place == "host" and not step.target.startswith("operator."):
            COUNTS.host[step.target] += 1
        with random_seed(function, device):
            args, kwargs = decode(step.args, env), decode(step.kwargs, env)
            env[step.name] = function(*args, **kwargs)


# LITERALINCLUDE START: GRAPH_ONLY_RANDOM
@contextmanager
def random_seed(function: Any, device: torch.device) -> Iterator[None]:
    """Draw on the host, from a seed and an offset of the device's generator."""
    if torch.Tag.nondeterministic_seeded not in getattr(function, "tags", ()):
        yield
        return
    index = device.index or 0
    generator = torch.get_device_module(device).default_generators[index]
    offset = generator.get_offset()
    generator.set_offset(offset + 4)
    with torch.random.fork_rng(devices=[]):
        seed = hash((generator.initial_seed(), offset))
        torch.default_generator.manual_seed(seed)
        yield


# LITERALINCLUDE END: GRAPH_ONLY_RANDOM


def resolve(target: str) -> Any:
    """Find the function of an instruction, such as ``aten.add.Tensor``."""
    space, name, *overload = target.split(".")
    if space == "operator":
        return getattr(operator, name)
    return getattr(getattr(getattr(torch.ops, space), name), overload[0])


CONSTANTS = {torch.dtype: "$dtype", torch.memory_format: "$memory_format"}


def encode(value: Any) -> Any:
    """Write an argument of a node as JSON; devices and layouts are the chip's own."""
    if isinstance(value, torch.fx.Node):
        return {"$value": value.name}
    if isinstance(value, list | tuple):
        return [encode(x) for x in value]
    if isinstance(value, tuple(CONSTANTS)):
        return {CONSTANTS[type(value)]: str(value).removeprefix("torch.")}
    if isinstance(value, torch.device | torch.layout):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"chip: an argument {value!r} cannot be part of a binary")


def decode(value: Any, env: Named) -> Any:
    """Read what ``encode`` wrote, with the values that were computed so far."""
    if isinstance(value, list):
        return [decode(x, env) for x in value]
    if not isinstance(value, dict):
        return value
    if "$value" in value:
        return env[value["$value"]]
    for name in CONSTANTS.values():
        if name in value:
            return getattr(torch, value[name])
    return {name: decode(x, env) for name, x in value.items()}

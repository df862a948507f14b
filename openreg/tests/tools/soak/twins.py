# Tensors that live on the device and on the CPU at once; see docs/ship/robustness.md.
"""A program does the same with both, and compares them at intervals."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch


@dataclass(eq=False)
class Memory:
    """What tensors that share memory have in common."""

    streams: set[torch.Stream] = field(default_factory=set)  # those that used it


# LITERALINCLUDE START: TWIN
@dataclass(eq=False)
class Twin:
    """A tensor of the device, and what it should contain."""

    device: torch.Tensor
    host: torch.Tensor
    memory: Memory = field(default_factory=Memory)

    def use_on(self, stream: torch.Stream, event: torch.Event | None = None) -> None:
        """Order the next use after all earlier ones, and keep the memory for it."""
        for other in self.memory.streams - {stream}:
            if event is None:
                stream.wait_stream(other)
            else:
                event.record(other)
                stream.wait_event(event)
        self.device.record_stream(stream)
        self.memory.streams.add(stream)


# LITERALINCLUDE END: TWIN


def check(twins: Iterable[Twin]) -> None:
    """Raise unless each tensor contains what it should."""
    for twin in twins:
        for stream in twin.memory.streams:
            stream.synchronize()
        found = twin.device.cpu()
        if found.dtype != twin.host.dtype or not torch.equal(found, twin.host):
            raise AssertionError(f"the device has {found}, the CPU {twin.host}")


# Values stay integers below 31, so that every order of additions gives the same sum.
MODULUS = 31

UNARY = [
    torch.neg,
    torch.abs,
    torch.relu,
    torch.clone,
    lambda x: x + x,
    lambda x: x * 2 + 1,
    lambda x: x.sum(0, keepdim=True),
    lambda x: x.cumsum(0),
    lambda x: x.flip(0),
    lambda x: x.sort(0).values,
    lambda x: x.roll(1),
    lambda x: x.repeat(2),
    lambda x: torch.cat([x, x * 3]),
    lambda x: torch.where(x > 3, x, -x),
    lambda x: x.index_select(0, torch.arange(len(x[:2]), device=x.device)),
    lambda x: torch.outer(x[:9], x[:7]).sum(1),
    lambda x: x.to(torch.int64 if x.is_floating_point() else torch.float32),
    lambda x: x[x > 0][:100],  # waits for the device
]
BINARY = [torch.add, torch.sub, torch.mul, torch.maximum, torch.eq, torch.addcmul]
IN_PLACE = [
    lambda x: x.add_(1),
    lambda x: x.mul_(2),
    lambda x: x.neg_(),
    lambda x: x.fill_(5),
    lambda x: x[::2].add_(3),
    lambda x: x.masked_fill_(x > 4, 2),
    lambda x: x.copy_(x.flip(0)),
]


def small(x: torch.Tensor) -> torch.Tensor:
    """The values of a result, as they may be used again."""
    x = x.to(torch.int64) if x.dtype == torch.bool else x
    return torch.remainder(x, MODULUS)[:100_000]


def apply(function: object, *tensors: torch.Tensor) -> torch.Tensor:
    """Call one of the functions above."""
    if function is torch.addcmul:
        tensors = (tensors[0], *tensors)
    return small(function(*tensors))  # type: ignore[operator]


def gradients(left: torch.Tensor, right: torch.Tensor) -> list[torch.Tensor]:
    """Differentiate a small function of both."""
    leaves = [x.detach().to(torch.float32).requires_grad_() for x in (left, right)]
    loss = (leaves[0] * leaves[1]).sum() + (leaves[0] * 2).relu().sum()
    loss.backward()
    return [small(leaf.grad) for leaf in leaves if leaf.grad is not None]

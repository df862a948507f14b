# Level 5: capture and replay; see docs/ship/conformance.md.
from __future__ import annotations

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same

area = Area(
    "graphs",
    level=5,
    stage=8,
    page="modules/graphs",
    implement="at::GraphImplInterface, ATen/core/GraphImplInterface.h",
)


@area.case("A captured graph computes with the present values of its inputs.", "graphs")
def replay(d: Device) -> None:
    x = torch.ones(4, device=d.type)
    graph = torch.accelerator.Graph()
    with torch.Stream(d()), graph:
        y = x * 2
    for value in (3.0, 5.0):
        x.fill_(value)
        graph.replay()
        torch.accelerator.synchronize()
        same(y, torch.full((4,), 2 * value), "replayed")


@area.case(
    "A capture runs nothing, and its memory stays until the graph ends.", "graphs"
)
def memory(d: Device) -> None:
    x = torch.ones(1024, device=d.type)
    graph = torch.accelerator.Graph()
    with torch.Stream(d()), graph:
        x.add_(1)
        z = (x * 3) + 1
    torch.accelerator.synchronize()
    same(x, torch.ones(1024), "the capture ran the kernels")
    taken = [torch.full((1024,), 7.0, device=d.type) for _ in range(8)]
    graph.replay()
    torch.accelerator.synchronize()
    same(z, torch.full((1024,), 7.0), "replayed")
    graph.replay()
    torch.accelerator.synchronize()
    same(z, torch.full((1024,), 10.0), "replayed again")
    for other in taken:
        same(other, torch.full((1024,), 7.0), "a graph writes to memory of others")
    check(len(taken) == 8, "")


@area.case(
    "A graph is replayed on the current stream, behind its work.",
    *("graphs", "streams"),
)
def stream(d: Device) -> None:
    x = torch.zeros(64, device=d.type)
    graph = torch.accelerator.Graph()
    with torch.Stream(d()), graph:
        x.add_(1)
    d.warm(lambda: x.fill_(1), x.clone)
    with torch.Stream(d()) as side:
        d.slow()
        x.fill_(1)
        graph.replay()
        y = x.clone()
        side.synchronize()
    same(y, torch.full((64,), 2.0), "replayed on another stream")

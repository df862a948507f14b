# Level 3: networks learn what they learn on the CPU; see docs/ship/conformance.md.
from __future__ import annotations

import copy
from collections.abc import Callable

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check
from torch_conformance._progress import progress

area = Area(
    "training",
    level=3,
    stage=3,
    page="operators/fallback",
    implement="the operators that a step calls, or a fallback for them",
)


def _perceptron() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16),
        torch.nn.ReLU(),
        torch.nn.LayerNorm(16),
        torch.nn.Linear(16, 4),
    )


def _train(
    d: Device, optimizer: Callable[[torch.nn.Module], torch.optim.Optimizer]
) -> None:
    """Train on the CPU and on the device; compare losses and weights."""
    reference = _perceptron()
    model = copy.deepcopy(reference).to(d.type)
    x, target = torch.randn(32, 8), torch.randint(4, (32,))
    curves = []
    for where, network in (("cpu", reference), (d.type, model)):
        steps, losses = optimizer(network), []
        for _ in range(10):
            output = network(x.to(where))
            loss = torch.nn.functional.cross_entropy(output, target.to(where))
            steps.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            steps.step()
            losses.append(loss.item())
            progress()
        curves.append(losses)
    ours, theirs = torch.tensor(curves[1]), torch.tensor(curves[0])
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
    check(curves[1][-1] < curves[1][0], f"the loss does not fall: {curves[1]}")
    for name, weight in reference.named_parameters():
        other = model.get_parameter(name).detach().cpu()
        torch.testing.assert_close(other, weight.detach(), rtol=1e-3, atol=1e-4)


@area.case("A perceptron learns with SGD as on the CPU.")
def sgd(d: Device) -> None:
    _train(d, lambda model: torch.optim.SGD(model.parameters(), 0.1, momentum=0.9))


@area.case("A perceptron learns with Adam as on the CPU.")
def adam(d: Device) -> None:
    _train(d, lambda model: torch.optim.AdamW(model.parameters(), 0.01))


@area.case(
    "`Module.to` keeps the parameters that an optimizer holds.",
    implement="aten::_has_compatible_shallow_copy_type for PrivateUse1",
    page="operators/minimal",
)
def same_parameters(d: Device) -> None:
    model = torch.nn.Linear(2, 2)
    weight = model.weight
    model.to(d.type)
    check(model.weight is weight, "the parameter is another object")
    check(weight.device.type == d.type, f"it is on {weight.device}")


@area.case(
    "Batches of a data loader arrive, also from worker processes.",
    implement="`_is_in_bad_fork()` of the device module",
    page="frontend/multiprocessing",
)
def data_loader(d: Device) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(12.0))
    d.put(1.0)
    for workers in (0, 2):
        loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=workers)
        total = sum(batch.to(d.type).sum().item() for (batch,) in loader)
        check(total == 66, f"the sum is {total} with {workers} workers")

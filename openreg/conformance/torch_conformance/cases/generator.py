# Level 5: random numbers of the device; see docs/ship/conformance.md.
from __future__ import annotations

from collections.abc import Callable

import torch

from torch_conformance._case import Area
from torch_conformance._device import Device, check

HOOKS = "ATen/detail/PrivateUse1HooksInterface.h"
area = Area(
    "generator",
    level=5,
    stage=7,
    page="runtime/generator",
    implement=f"PrivateUse1HooksInterface::getNewGenerator, {HOOKS}",
)
DRAWS: dict[str, Callable[..., torch.Tensor]] = {
    "rand": lambda n, **o: torch.rand(n, **o),
    "randn": lambda n, **o: torch.randn(n, **o),
    "randint": lambda n, **o: torch.randint(1 << 30, (n,), **o),
    "randperm": lambda n, **o: torch.randperm(n, **o),
    "bernoulli": lambda n, device, generator: torch.full(
        (n,), 0.5, device=device
    ).bernoulli_(generator=generator),
    "exponential": lambda n, device, generator: torch.empty(
        n, device=device
    ).exponential_(generator=generator),
}


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.cpu(), b.cpu())


@area.case(
    "The same seed gives the same numbers, another seed other ones.", "generators"
)
def seeds(d: Device) -> None:
    for name, draw in DRAWS.items():
        first, again, other = (
            draw(500, generator=torch.Generator(d()).manual_seed(seed), device=d.type)
            for seed in (1, 1, 2)
        )
        check(_equal(first, again), f"{name}: the same seed, other numbers")
        check(not _equal(first, other), f"{name}: another seed, the same numbers")


@area.case("Each draw goes on behind the one before.", "generators")
def progress(d: Device) -> None:
    for name, draw in DRAWS.items():
        generator = torch.Generator(d()).manual_seed(1)
        first, second = (
            draw(500, generator=generator, device=d.type) for _ in range(2)
        )
        check(not _equal(first, second), f"{name}: the same numbers twice")
    generator = torch.Generator(d()).manual_seed(1)
    both = torch.cat([torch.rand(64, device=d.type, generator=generator)] * 2)
    check(both.unique().numel() > 60, "many equal numbers in one draw")


@area.case("A state is saved and restored.", "generators")
def state(d: Device) -> None:
    generator = torch.Generator(d()).manual_seed(7)
    check(generator.initial_seed() == 7, f"the seed is {generator.initial_seed()}")
    torch.rand(5, device=d.type, generator=generator)
    saved = generator.get_state()
    check(saved.device.type == "cpu", f"the state is on {saved.device}")
    first = torch.rand(50, device=d.type, generator=generator)
    generator.set_state(saved)
    again = torch.rand(50, device=d.type, generator=generator)
    check(_equal(first, again), "other numbers behind set_state()")
    other = torch.Generator(d())
    other.set_state(saved)
    third = torch.rand(50, device=d.type, generator=other)
    check(_equal(first, third), "other numbers in another generator")


@area.case(
    "`torch.manual_seed` seeds the device; its numbers are not those of the CPU.",
    "generators",
    implement="`manual_seed_all()` of the device module, and "
    f"PrivateUse1HooksInterface::getDefaultGenerator, {HOOKS}",
    page="frontend/random",
)
def default_generator(d: Device) -> None:
    drawn = []
    for noise in (0, 3):
        torch.manual_seed(4)
        torch.rand(noise)  # the CPU's draws do not move the device's generator
        drawn.append(torch.rand(50, device=d.type))
    check(_equal(*drawn), "the CPU's generator moves that of the device")
    for index in range(d.module.device_count()):
        torch.manual_seed(4)
        first = torch.rand(50, device=d(index))
        torch.manual_seed(4)
        check(_equal(first, torch.rand(50, device=d(index))), f"device {index}")


@area.case(
    "`fork_rng` restores the state of the device.",
    "generators",
    implement="`get_rng_state()` and `set_rng_state()` of the device module",
    page="frontend/random",
)
def fork_rng(d: Device) -> None:
    torch.manual_seed(4)
    expected = torch.rand(50, device=d.type)
    torch.manual_seed(4)
    with torch.random.fork_rng(device_type=d.type):
        torch.rand(17, device=d.type)
    check(_equal(torch.rand(50, device=d.type), expected), "the state is not restored")
    saved = d.module.get_rng_state()
    first = torch.rand(50, device=d.type)
    d.module.set_rng_state(saved)
    check(_equal(torch.rand(50, device=d.type), first), "set_rng_state() of the module")


@area.case("Numbers have the distribution that was asked for.", "generators")
def distributions(d: Device) -> None:
    torch.manual_seed(0)
    n = 20_000
    place = d.type
    for name, x, mean, deviation in (
        ("rand", torch.rand(n, device=place), 0.5, 12**-0.5),
        ("randn", torch.randn(n, device=place), 0.0, 1.0),
        ("normal", torch.normal(3.0, 2.0, (n,), device=place), 3.0, 2.0),
        ("exponential", torch.empty(n, device=place).exponential_(2.0), 0.5, 0.5),
        ("randint", torch.randint(0, 7, (n,), device=place).float(), 3.0, 2.0),
        ("bernoulli", torch.full((n,), 0.25, device=place).bernoulli(), 0.25, 0.433),
    ):
        host = x.cpu().double()
        check(
            abs(host.mean().item() - mean) < 0.05 * max(1, deviation), f"{name}: mean"
        )
        check(abs(host.std().item() / deviation - 1) < 0.05, f"{name}: deviation")
        lag = ((host[1:] - mean) * (host[:-1] - mean)).mean() / deviation**2
        check(abs(lag.item()) < 0.05, f"{name}: neighbors depend on each other")


@area.case(
    "Dropout drops the share that was asked for, also in a backward.", "generators"
)
def dropout(d: Device) -> None:
    torch.manual_seed(0)
    x = torch.ones(20_000, device=d.type, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    share = (y == 0).float().mean().item()
    check(abs(share - 0.25) < 0.02, f"{share:.3f} are dropped")
    y.sum().backward()
    check(x.grad is not None and _equal(x.grad, y.detach()), "another mask in backward")

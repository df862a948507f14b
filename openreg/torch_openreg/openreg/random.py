# Seeds and states of the devices' generators; see docs/operators/fallback.md.
"""Random numbers: one default generator for each device."""

from collections.abc import Iterable, Sequence

import torch

from torch_openreg import _C

_Device = int | str | torch.device


def _generator(device: _Device) -> torch.Generator:
    if not isinstance(device, int):
        index = torch.device(device).index
        device = -1 if index is None else index
    return _C._default_generator(device)


class _DefaultGenerators(Sequence[torch.Generator]):
    """The default generator of each device, by index."""

    def __len__(self) -> int:
        return _C._device_count()

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(f"openreg: there is no device {index}")
        return _C._default_generator(index)


default_generators: Sequence[torch.Generator] = _DefaultGenerators()


def manual_seed(seed: int) -> None:
    """Set the seed of the current device's default generator."""
    _generator(-1).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Set the seed of every device's default generator; torch.manual_seed calls it."""
    for generator in default_generators:
        generator.manual_seed(seed)


def seed() -> None:
    """Give the current device's default generator a new random seed."""
    _generator(-1).seed()


def seed_all() -> None:
    """Give every device's default generator the same new random seed."""
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    """Return the seed of the current device's default generator."""
    return _generator(-1).initial_seed()


def get_rng_state(device: _Device = "openreg") -> torch.Tensor:
    """Return the state of a device's default generator, as a CPU byte tensor."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """Return the states of all devices' default generators."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: torch.Tensor, device: _Device = "openreg") -> None:
    """Set the state of a device's default generator."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Set the states of all devices' default generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)

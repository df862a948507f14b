# Seeds and states of the devices' generators; see docs/operators/fallback.md.
"""Random numbers: one default generator for each device."""

from collections.abc import Iterable, Sequence

import torch

from torch_openreg import _C

from ._utils import Device as _Device
from ._utils import _get_device_index


def _generator(device: _Device) -> torch.Generator:
    return _C._default_generator(_get_device_index(device))


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
    _generator("openreg").manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Set the seed of every device's default generator; torch.manual_seed calls it."""
    for generator in default_generators:
        generator.manual_seed(seed)


def seed() -> None:
    """Give the current device's default generator a new random seed."""
    _generator("openreg").seed()


def seed_all() -> None:
    """Give every device's default generator the same new random seed."""
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    """Return the seed of the current device's default generator."""
    return _generator("openreg").initial_seed()


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
    """Set the states of all devices' default generators.

    Raises:
        ValueError: there are more or fewer states than devices; nothing has changed.
    """
    states = list(new_states)
    if len(states) != len(default_generators):
        raise ValueError(
            f"openreg: expected one state for each of the {len(default_generators)} "
            f"devices, but got {len(states)}"
        )
    for index, state in enumerate(states):
        set_rng_state(state, index)

# Seeds and states of the devices' generators; see docs/frontend/random.md.
"""Random numbers: one default generator for each device."""

from collections.abc import Iterable, Sequence

import torch
from torch._functorch._aot_autograd.utils import register_graphsafe_rng_device_type

from torch_openreg import _C

from ._utils import Device as _Device
from ._utils import _get_current_index, _integer


def _generator(device: _Device) -> torch.Generator:
    return _C._default_generator(_get_current_index(device))


# LITERALINCLUDE START: GRAPHSAFE_PYTHON
def _get_generator(device: torch.device) -> torch.Generator:
    """Return the default generator of a device; torch's compiler calls this."""
    return _generator(device)


def _register_graphsafe() -> None:
    """Let compiled graphs save and restore the state of a generator by reference.

    ``import torch`` has already loaded the queried module, so this costs no time.
    """
    register_graphsafe_rng_device_type("openreg")


# LITERALINCLUDE END: GRAPHSAFE_PYTHON


# LITERALINCLUDE START: DEFAULT_GENERATORS
class _DefaultGenerators(Sequence[torch.Generator]):
    """The default generator of each device, by index."""

    def __len__(self) -> int:
        return _C._device_count()

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number, count = _integer(index, "the index of a generator"), len(self)
        if not -count <= number < count:
            raise IndexError(f"openreg: there is no device {number}")
        return _C._default_generator(number % count)


default_generators: Sequence[torch.Generator] = _DefaultGenerators()
# LITERALINCLUDE END: DEFAULT_GENERATORS


def manual_seed(seed: int) -> None:
    """Set the seed of the current device's default generator, and its offset to 0.

    Args:
        seed: from -2**63 to 2**64 - 1; a negative one counts from 2**64 down.

    Raises:
        ValueError: it is outside of that range.
    """
    _generator("openreg").manual_seed(int(seed))


# LITERALINCLUDE START: MANUAL_SEED_ALL
def manual_seed_all(seed: int) -> None:
    """Seed the generator of every device; ``torch.manual_seed`` calls this.

    All devices then draw the same numbers.
    """
    for generator in default_generators:
        generator.manual_seed(int(seed))


# LITERALINCLUDE END: MANUAL_SEED_ALL


def seed() -> None:
    """Give the current device's default generator a random seed from the system."""
    _generator("openreg").seed()


def seed_all() -> None:
    """Give every device's default generator the same random seed from the system."""
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    """Return the seed of the current device's default generator."""
    return _generator("openreg").initial_seed()


def get_rng_state(device: _Device = "openreg") -> torch.Tensor:
    """Return the state of a device's default generator.

    Returns:
        A CPU tensor of shape (16,) and dtype ``torch.uint8``: the seed and the offset,
        each in 8 bytes.
    """
    return _generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """Return a state as :func:`get_rng_state` does, for each device by index."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: torch.Tensor, device: _Device = "openreg") -> None:
    """Set the state of a device's default generator.

    Args:
        new_state: what :func:`get_rng_state` returned, for this or another device.
        device: by default, the current device.

    Raises:
        TypeError: the state is not a CPU tensor of dtype ``torch.uint8``.
        RuntimeError: it does not have 16 contiguous bytes.
        torch.AcceleratorError: there is no such device.
    """
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Set the states of all devices' default generators.

    Raises:
        TypeError, RuntimeError: as :func:`set_rng_state`. Nothing has changed.
        ValueError: there are more or fewer states than devices. Nothing has changed.
    """
    states = list(new_states)
    if len(states) != len(default_generators):
        raise ValueError(
            f"openreg: expected one state for each of the {len(default_generators)} "
            f"devices, but got {len(states)}"
        )
    for state in states:
        torch.Generator("openreg").set_state(state)  # raises if it is none
    for generator, state in zip(default_generators, states, strict=True):
        generator.set_state(state)

# The device module torch.starter; see docs/start/first-backend.md.
"""What torch and users find in ``torch.starter``."""

import atexit

import torch

from torch_starter import _C

# LITERALINCLUDE START: STARTER_DEVICE_MODULE
current_device = torch.accelerator.current_device_index
set_device = torch.accelerator.set_device_index
synchronize = torch.accelerator.synchronize


def _lazy_init() -> None:
    """Start the device; torch calls this before it makes the first tensor."""
    _C._initialize()


def _is_in_bad_fork() -> bool:
    """Return whether this process was forked after the device had been used."""
    return _C._is_in_bad_fork()


def is_available() -> bool:
    """Return whether there is a device. Does not start it."""
    return _C._device_count() > 0


def device_count() -> int:
    """Return the number of devices. Does not start them."""
    return _C._device_count()


# LITERALINCLUDE END: STARTER_DEVICE_MODULE
# LITERALINCLUDE START: STARTER_DEVICE_CONTEXT
class device(torch.accelerator.device_index):
    """Context manager that makes a device current; ``torch.load`` also uses it."""

    def __init__(self, device: int | str | torch.device | None) -> None:
        if device is not None and not isinstance(device, int):
            device = torch.device(device).index
        super().__init__(device)


# LITERALINCLUDE END: STARTER_DEVICE_CONTEXT
# LITERALINCLUDE START: STARTER_RANDOM
def manual_seed_all(seed: int) -> None:
    """Do nothing: random operators fall back, and draw from the CPU's generator."""


def get_rng_state(device: int | str | torch.device = "starter") -> torch.Tensor:
    """Return the state of the CPU's generator, which this device also uses."""
    return torch.get_rng_state()


def set_rng_state(
    state: torch.Tensor, device: int | str | torch.device = "starter"
) -> None:
    """Set the state of the CPU's generator."""
    torch.set_rng_state(state)


# LITERALINCLUDE END: STARTER_RANDOM
# LITERALINCLUDE START: STARTER_EXIT
@atexit.register
def _let_threads_finish() -> None:
    """Wait for autograd's threads: they hold Python objects, and Python is ending."""
    if _C._is_initialized():
        _C._drain_autograd_threads()


# LITERALINCLUDE END: STARTER_EXIT

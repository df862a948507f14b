# The device module torch.npy; see docs/frontend/python-only.md.
"""One device, always there, that needs no start."""


# LITERALINCLUDE START: NUMPY_MODULE
def is_available() -> bool:
    """Return whether there is a device: always."""
    return True


def is_initialized() -> bool:
    """Return whether the device was started: it needs no start."""
    return True


def device_count() -> int:
    """Return the number of devices: the guard of a Python backend has only one."""
    return 1


def current_device() -> int:
    """Return the index of the current device."""
    return 0


def _lazy_init() -> None:
    """Called before the first tensor."""


def _is_in_bad_fork() -> bool:
    """Return whether a forked child must not use the device: it may."""
    return False


def manual_seed_all(seed: int) -> None:
    """Do nothing: random numbers are drawn by the CPU, whose generator is seeded."""


# LITERALINCLUDE END: NUMPY_MODULE

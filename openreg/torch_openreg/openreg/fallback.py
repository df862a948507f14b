# Which operators run on the CPU instead; see docs/operators/fallback.md.
"""Modes and counters of the CPU fallback."""

from torch_openreg import _C


def set_fallback_mode(mode: str) -> None:
    """Choose what happens when an operator has no kernel for the device.

    Args:
        mode: ``"allow"`` runs it on the CPU; ``"warn"`` does so and warns once for each
            operator; ``"error"`` raises NotImplementedError. The environment variable
            ``OPENREG_FALLBACK`` sets the first mode; the default is ``"allow"``.

    Raises:
        ValueError: for any other mode.
    """
    _C._set_fallback_mode(mode)


def fallback_mode() -> str:
    """Return the present mode."""
    return _C._fallback_mode()


def fallback_counts() -> dict[str, int]:
    """Return how often each operator fell back, such as ``{"aten::mul.out": 1}``."""
    return _C._fallback_counts()


def reset_fallback_counts() -> None:
    """Forget all counts."""
    _C._reset_fallback_counts()

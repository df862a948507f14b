# Which operators run on the CPU instead; see docs/operators/fallback.md.
"""Modes and counters of the CPU fallback."""

from collections.abc import Iterator
from contextlib import nullcontext

from torch_openreg import _C

from ._contexts import ProcessSetting, reentrant


class FallbackCounts(dict[str, int]):
    """How often each operator fell back; printed as a table, the most frequent first.

    It is a dictionary, such as ``{"aten::hypot.out": 1}``.
    """

    def __str__(self) -> str:
        if not self:
            return "no operator fell back"
        lines = ["times  operator"]
        for name, times in sorted(self.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"{times:5}  {name}")
        return "\n".join(lines)


def set_fallback_mode(mode: str) -> None:
    """Choose what happens when an operator has no kernel for the device.

    Args:
        mode: ``"allow"`` runs it on the CPU; ``"warn"`` also warns once for each
            operator; ``"error"`` raises NotImplementedError. The environment variable
            ``OPENREG_FALLBACK`` sets the first mode; the default is ``"allow"``.

    Raises:
        ValueError: for any other mode.
    """
    _C._set_fallback_mode(mode)


def fallback_mode() -> str:
    """Return the current mode."""
    return _C._fallback_mode()


def fallback_counts() -> FallbackCounts:
    """Return how often each operator fell back since the start or the last reset."""
    return FallbackCounts(_C._fallback_counts())


def reset_fallback_counts() -> None:
    """Reset all counts."""
    _C._reset_fallback_counts()


_mode = ProcessSetting(fallback_mode, set_fallback_mode)


@reentrant
def fallbacks(mode: str | None = None) -> Iterator[FallbackCounts]:
    """Count the fallbacks within a context, in all threads.

    Args:
        mode: holds within the context only, see :func:`set_fallback_mode`; the present
            mode by default.

    Returns:
        The counts; they are filled in when the context is left.

    Raises:
        ValueError: there is no such mode.
    """
    before, within = fallback_counts(), FallbackCounts()
    try:
        with nullcontext() if mode is None else _mode.changed_to(mode):
            yield within
    finally:
        for name, times in fallback_counts().items():
            if times > before.get(name, 0):
                within[name] = times - before.get(name, 0)

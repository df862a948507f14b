# Devices that are slow or small, and not wrong; see docs/ship/conformance.md.
"""No case may fail on them: what they lack is a capability, which a report shows."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import torch
from conformance.kernels import register_around
from torch_conformance import _slow

ASYNCHRONOUS = "launches are asynchronous"
OVERLAP = "kernels of two streams overlap"
FROM_PINNED = "copies from pinned memory are asynchronous"
TO_PINNED = "copies to pinned memory are asynchronous"
CAPABILITIES = (ASYNCHRONOUS, OVERLAP, FROM_PINNED, TO_PINNED)
NAIVE = 40  # nanoseconds of one step of a naive matrix product: 43 s for 1024 x 1024


@dataclasses.dataclass(frozen=True)
class Variant:
    """How a device differs, and the capabilities that it then lacks."""

    name: str
    plant: Callable[[], object]
    lacks: tuple[str, ...]


def _driver(*names: str) -> Callable[[], object]:
    return lambda: os.environ.__setitem__("CONFORMANCE_FAULT", ",".join(names))


def _naive_product() -> None:
    """Take `_sleep` away, and let each matrix product take its time on the stream."""
    module: Any = torch.openreg  # type: ignore[attr-defined]
    sleep = module._sleep
    del module._sleep

    def slow(own: Callable[..., Any], a: Any, b: Any) -> Any:
        result = own(a, b)
        sleep(NAIVE * a.size(0) * a.size(1) * b.size(1))
        return result

    register_around("mm", slow)


def _first_kernels() -> None:
    _driver("one unit", "compiles")()
    _naive_product()


def _short_products() -> None:
    """As on a fast device, whose largest product does not take long."""
    _slow.LARGEST = 4 * _slow.SMALLEST
    _first_kernels()


VARIANTS = (
    Variant(
        "One compute unit: kernels run one at a time", _driver("one unit"), (OVERLAP,)
    ),
    Variant("One queue for all streams of a device", _driver("one queue"), (OVERLAP,)),
    Variant("A kernel is compiled at its first launch", _driver("compiles"), ()),
    Variant("No `_sleep`, and a naive matrix product", _naive_product, ()),
    Variant("All but the queue at the same time", _first_kernels, (OVERLAP,)),
    Variant("These, and products that are short", _short_products, (OVERLAP,)),
    Variant(
        "Each launch waits for its kernel",
        _driver("launch blocks"),
        CAPABILITIES,
    ),
    Variant(
        "A copy of pinned memory waits",
        _driver("copy blocks"),
        (FROM_PINNED, TO_PINNED),
    ),
)

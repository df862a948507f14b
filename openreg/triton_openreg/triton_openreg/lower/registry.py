# Which function lowers which operation; see docs/modules/triton-compiler.md.
"""The table of operations, and what a function of it gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ttir import Operation
from .values import Value

if TYPE_CHECKING:
    from .function import FunctionLowering as Lowering
else:
    Lowering = object

Handler = Callable[["Lowering", Operation], "Value | list[Value] | None"]
HANDLERS: dict[str, Handler] = {}


def lowers(*names: str) -> Callable[[Handler], Handler]:
    """Register a function for operations."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


__all__ = ["HANDLERS", "Handler", "Lowering", "lowers"]

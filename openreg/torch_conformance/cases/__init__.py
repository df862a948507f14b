# The cases of the conformance kit, by area; see docs/ship/conformance.md.
"""Importing a module of this package declares its cases."""

from torch_conformance.cases import (
    allocator,
    autograd,
    copies,
    device,
    events,
    host,
    memory,
    operators,
    registration,
    serialization,
    streams,
    training,
)

__all__ = [
    "allocator",
    "autograd",
    "copies",
    "device",
    "events",
    "host",
    "memory",
    "operators",
    "registration",
    "serialization",
    "streams",
    "training",
]

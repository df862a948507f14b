# Which overloads of an operator run on the device; see docs/ship/conformance.md.
from __future__ import annotations

from typing import Any

import torch

# The keys of torch's default kernels. A functional overload has one that allocates and
# calls `out`, or a generated `out` has one that calls the functional overload.
DEFAULTS = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd")


def named(name: str) -> Any:
    """The overload of a name such as ``add.Tensor`` or ``mm``."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


# LITERALINCLUDE START: CONFORMANCE_NATIVE
def is_native(overload: Any, key: str) -> bool:
    """Whether a kernel of the device computes: its own, or that of its partner."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    if has(overload.name(), key):
        return True
    partner = partner_of(overload)
    default = any(has(overload.name(), alias) for alias in DEFAULTS)  # (1)
    return default and partner is not None and has(partner.name(), key)


# LITERALINCLUDE END: CONFORMANCE_NATIVE
def partner_of(overload: Any) -> Any:
    """Of a functional overload the one with ``out``, and of that one the functional."""
    packet = overload.overloadpacket
    out, inputs = _outputs_and_inputs(overload)
    for name in packet.overloads():
        other = getattr(packet, name)
        other_out, other_inputs = _outputs_and_inputs(other)
        if other_inputs == inputs and bool(other_out) != bool(out):
            return other
    return None


def _outputs_and_inputs(overload: Any) -> tuple[list[str], list[tuple[str, str]]]:
    arguments = overload._schema.arguments
    outputs = [it.name for it in arguments if it.is_out]
    return outputs, [(it.name, str(it.type)) for it in arguments if not it.is_out]

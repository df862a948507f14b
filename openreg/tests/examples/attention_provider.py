# An attention kernel that users switch on; see docs/operators/overrides.md.
"""Attention by the previous kernel, but counted."""

import torch
from torch._C import DispatchKey, DispatchKeySet

calls = 0


# LITERALINCLUDE START: ATTENTION_PROVIDER
OPERATOR = "_scaled_dot_product_efficient_attention"


class Active:
    """What ``restore_flash_attention_impl`` calls to take the kernel away."""

    def __init__(self, library: torch.library.Library) -> None:
        self.library = library

    def remove(self) -> None:
        self.library._destroy()  # (1)


def register() -> Active:
    """Put the kernel in front of the one that is registered."""
    before = torch.library.get_kernel(f"aten::{OPERATOR}", "PrivateUse1")  # (2)

    def kernel(*args: object, **kwargs: object) -> object:
        global calls
        calls += 1
        return before.call_boxed(
            DispatchKeySet(DispatchKey.PrivateUse1), *args, **kwargs
        )

    library = torch.library.Library("aten", "IMPL")
    library.impl(OPERATOR, kernel, "PrivateUse1")  # (3)
    return Active(library)


# LITERALINCLUDE END: ATTENTION_PROVIDER

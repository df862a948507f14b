# What differs between releases of Triton; see docs/modules/triton-compiler.md.
"""Triton 3.7.1 (torch 2.13), 3.8 (torch 2.14) and 3.9 (torch 2.15)."""

from typing import Any

from triton._C.libtriton import passes


def add_block_pointer_pass(manager: Any) -> None:
    """Rewrite block pointers, which ``tl.make_block_ptr`` returns, as plain ones.

    Triton 3.8 rewrites them before the first stage; 3.9 has none.
    """
    if hasattr(passes.ttir, "add_rewrite_tensor_pointer"):
        passes.ttir.add_rewrite_tensor_pointer(manager)

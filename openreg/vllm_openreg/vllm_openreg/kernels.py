# What replaces Triton kernels of vLLM; see docs/frontend/serving-attention.md.
"""vLLM passes the arguments by position, in the order of its kernel."""

from __future__ import annotations

import torch


def slot_mapping(
    num_tokens: int,
    max_num_tokens: int,
    starts: torch.Tensor,  # of each request, and the end of the last
    positions: torch.Tensor,
    block_table: torch.Tensor,
    block_table_stride: int,
    slots: torch.Tensor,  # the result
    block_size: int,
    context_ranks: int = 1,
    context_rank: int = 0,
    context_interleave: int = 1,
    padding: int = -1,
    triton_block: int = 1024,
) -> None:
    """Write for each token where its key and value go in the KV cache."""
    if context_ranks != 1:
        raise NotImplementedError(
            f"vllm_openreg has no context parallelism, and got {context_ranks} ranks. "
            "Set decode_context_parallel_size=1"
        )
    # LITERALINCLUDE START: SLOT_MAPPING
    token = torch.arange(num_tokens, device=starts.device, dtype=starts.dtype)
    request = torch.searchsorted(starts[1:].contiguous(), token, right=True)
    position = positions[:num_tokens]
    block = block_table[request, position // block_size].long()
    slots[:num_tokens] = block * block_size + position % block_size
    slots[num_tokens:max_num_tokens] = padding
    # LITERALINCLUDE END: SLOT_MAPPING

# Two operators over a KV cache in blocks; see docs/frontend/serving-attention.md.
"""A real device has one kernel for each operator. These call PyTorch's operators.

`pages` is the cache of one layer: (block, token, head of keys, key and value).
A request owns any blocks, in the order of its row of the block table.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F


# LITERALINCLUDE START: WRITE_KV_CACHE
@torch.library.custom_op(
    "vllm_openreg::write_kv_cache", mutates_args=("pages",), device_types="openreg"
)
def write_kv_cache(
    key: torch.Tensor,  # (token, head, feature)
    value: torch.Tensor,
    pages: torch.Tensor,
    slots: torch.Tensor,  # for each token: block * size of a block + place in it
) -> None:
    """Store the keys and values of new tokens."""
    rows = pages.view(-1, *pages.shape[2:])
    rows.index_copy_(0, slots, torch.cat((key, value), dim=-1).to(rows.dtype))


# LITERALINCLUDE END: WRITE_KV_CACHE


# LITERALINCLUDE START: PAGED_ATTENTION
@torch.library.custom_op(
    "vllm_openreg::paged_attention", mutates_args=("output",), device_types="openreg"
)
def paged_attention(
    output: torch.Tensor,  # (token, head, feature), like the query
    query: torch.Tensor,
    pages: torch.Tensor,
    block_table: torch.Tensor,  # (request, block)
    starts: list[int],  # where the tokens of each request start, and where all end
    lengths: list[int],  # of each request, with what the cache had before
    scale: float,
    window: int,  # how many tokens one sees, with itself; 0: all before it
) -> None:
    """Attend from the new tokens of each request to all of its tokens."""
    # LITERALINCLUDE END: PAGED_ATTENTION
    # LITERALINCLUDE START: PAGED_ATTENTION_BODY
    size, features = pages.shape[1], query.shape[-1]
    for request, length in enumerate(lengths):
        begin, end = starts[request], starts[request + 1]
        if begin == end:  # a row that only fills the batch
            continue
        past = length - (end - begin)
        reached = max(0, past - window + 1) if window else 0  # (1)
        first = reached // size
        table = block_table[request, first : -(-length // size)]
        cached = pages[table].flatten(0, 1)[: length - first * size].transpose(0, 1)
        mask = visible(past, length, first * size, window, query.device)
        result = F.scaled_dot_product_attention(
            query[begin:end].transpose(0, 1)[None],
            cached[None, ..., :features],
            cached[None, ..., features:],
            attn_mask=mask,
            scale=scale,
            enable_gqa=pages.shape[2] != query.shape[1],
        )
        output[begin:end] = result[0].transpose(0, 1)
        # LITERALINCLUDE END: PAGED_ATTENTION_BODY


def visible(
    past: int, length: int, first: int, window: int, device: torch.device
) -> torch.Tensor:
    """Return which of the tokens from `first` on each token from `past` on sees."""
    seeing = torch.arange(past, length, device=device)[:, None]
    seen = torch.arange(first, length, device=device)
    mask = seen <= seeing
    return mask & (seen > seeing - window) if window else mask

# The attention backend of vLLM's layers; see docs/frontend/serving-attention.md.
"""vLLM calls `build` once for a batch, and `forward` for each layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from vllm.v1.attention.backend import (
    AttentionBackend,
    AttentionImpl,
    AttentionMetadata,
    AttentionMetadataBuilder,
    AttentionType,
    CommonAttentionMetadata,
)
from vllm.v1.kv_cache_interface import KVCacheLayout

from vllm_openreg.paged_attention import paged_attention, write_kv_cache


class OpenRegAttentionBackend(AttentionBackend):
    """Names the classes, and declares what the kernels support."""

    supported_dtypes: ClassVar = [torch.float32, torch.float16, torch.bfloat16]

    @staticmethod
    def get_name() -> str:
        """Return a member of vLLM's enumeration; CUSTOM is the one for plug-ins."""
        return "CUSTOM"

    @staticmethod
    def get_impl_cls() -> type[OpenRegAttention]:
        return OpenRegAttention

    @staticmethod
    def get_builder_cls() -> type[OpenRegMetadataBuilder]:
        return OpenRegMetadataBuilder

    @classmethod
    def supported_kv_cache_layouts(cls) -> tuple[KVCacheLayout, ...]:
        """Ask for the order of the cache: layer, block, token, head, key and value."""
        return (KVCacheLayout.LBNHC,)

    @classmethod
    def supports_sliding_window(cls) -> bool:
        return True


@dataclass
class OpenRegMetadata(AttentionMetadata):
    """What the operators need to know about one batch."""

    starts: list[int]
    lengths: list[int]
    tokens: int
    block_table: torch.Tensor
    slots: torch.Tensor


class OpenRegMetadataBuilder(AttentionMetadataBuilder[OpenRegMetadata]):
    """Makes it from vLLM's, which has the lengths on the host and on the device."""

    def __init__(
        self, kv_cache_spec: Any, layer_names: list[str], config: Any, device: Any
    ) -> None:
        super().__init__(kv_cache_spec, layer_names, config, device)  # abstract there

    # LITERALINCLUDE START: ATTENTION_METADATA
    def build(
        self,
        common_prefix_len: int,
        common_attn_metadata: CommonAttentionMetadata,
        fast_build: bool = False,
    ) -> OpenRegMetadata:
        common, count = common_attn_metadata, common_attn_metadata.num_reqs
        return OpenRegMetadata(  # from the host: nothing waits for the device
            starts=common.query_start_loc_cpu[: count + 1].tolist(),
            lengths=common.seq_lens_cpu_upper_bound[:count].tolist(),
            tokens=common.num_actual_tokens,
            block_table=common.block_table_tensor,
            slots=common.slot_mapping,
        )

    # LITERALINCLUDE END: ATTENTION_METADATA


class OpenRegAttention(AttentionImpl[OpenRegMetadata]):
    """The attention of one layer."""

    def __init__(
        self,
        num_heads: int,
        head_size: int,
        scale: float,
        num_kv_heads: int | None = None,
        alibi_slopes: list[float] | None = None,
        sliding_window: int | None = None,
        kv_cache_dtype: str = "auto",
        logits_soft_cap: float | None = None,
        attn_type: str = AttentionType.DECODER,
        kv_sharing_target_layer_name: str | None = None,
    ) -> None:
        missing = [
            *(["ALiBi"] if alibi_slopes is not None else []),
            *(["soft cap of logits"] if logits_soft_cap else []),
            *([f"{attn_type} layers"] if attn_type != AttentionType.DECODER else []),
        ]
        if missing:
            raise NotImplementedError(
                f"The attention of vllm_openreg has no {', no '.join(missing)}. "
                "Choose another model, or add it to vllm_openreg/paged_attention.py"
            )
        self.num_heads, self.head_size, self.scale = num_heads, head_size, scale
        self.num_kv_heads = num_kv_heads or num_heads
        self.window = sliding_window or 0
        self.kv_cache_dtype = kv_cache_dtype
        self.kv_sharing_target_layer_name = kv_sharing_target_layer_name

    # LITERALINCLUDE START: ATTENTION_FORWARD
    def forward(
        self,
        layer: torch.nn.Module,
        query: torch.Tensor,  # (token, head, feature)
        key: torch.Tensor,
        value: torch.Tensor,
        kv_cache: torch.Tensor,  # (block, head, token, key and value)
        attn_metadata: OpenRegMetadata | None,
        output: torch.Tensor,
        *unused: Any,
        **scales: Any,
    ) -> torch.Tensor:
        """Store the new keys and values, and attend."""
        if (batch := attn_metadata) is None:  # the run that measures memory
            return output.zero_()
        pages = kv_cache.transpose(1, 2)  # contiguous, because of the layout
        if self.kv_sharing_target_layer_name is None:  # another layer stores them
            new = slice(batch.tokens)
            write_kv_cache(key[new], value[new], pages, batch.slots[new])
        where = batch.block_table, batch.starts, batch.lengths
        paged_attention(output, query, pages, *where, self.scale, self.window)
        return output

    # LITERALINCLUDE END: ATTENTION_FORWARD

// Meta functions of the fast paths of Transformer layers in inference; see
// docs/operators/fused-layers.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// Self attention of `query` [B, L, D]: the output [B, L, D], and if `need_weights` the
// probabilities [B, L, L], or [B, H, L, L] if they are not averaged. `mask` marks the
// hidden positions; its size depends on `mask_type`: 0 is [L, L], 1 is [B, L], 2 is [B,
// H, L, L].
struct MultiHeadAttention : MetaFunction {
  void meta(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
            int64_t embed_dim, int64_t num_head, const at::Tensor& qkv_weight,
            const at::Tensor& qkv_bias, const at::Tensor& proj_weight,
            const at::Tensor& proj_bias, const std::optional<at::Tensor>& mask,
            bool need_weights, bool average_attn_weights,
            std::optional<int64_t> mask_type);
};

// A whole layer of the encoder, from `src` [B, L, D] to the same size.
struct TransformerEncoderLayer : MetaFunction {
  void meta(const at::Tensor& src, int64_t embed_dim, int64_t num_heads,
            const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
            const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool use_gelu,
            bool norm_first, double eps, const at::Tensor& norm_weight_1,
            const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2,
            const at::Tensor& norm_bias_2, const at::Tensor& ffn_weight_1,
            const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
            const at::Tensor& ffn_bias_2, const std::optional<at::Tensor>& mask,
            std::optional<int64_t> mask_type);
};

}  // namespace openreg

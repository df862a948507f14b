// Kernels of Transformer layers in inference; see docs/operators/fused-layers.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg::kernels {

// Writes attention of `heads` heads over [B, L, embed_dim], with its projections before
// and after, to `out`. Writes the probabilities to `weights` unless it is undefined:
// [B, L, L] if averaged over the heads, else [B, heads, L, L]. The mask is true for
// what is hidden: [L, L], [B, L] or [B, heads, L, L] for a `mask_type` of 0, 1 or 2.
void multi_head_attention(const at::Tensor& query, const at::Tensor& key,
                          const at::Tensor& value, int64_t embed_dim, int64_t heads,
                          const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
                          const at::Tensor& proj_weight, const at::Tensor& proj_bias,
                          const std::optional<at::Tensor>& mask, bool need_weights,
                          bool average_attn_weights, std::optional<int64_t> mask_type,
                          const at::Tensor& out, const at::Tensor& weights);

// Writes one layer of an encoder, [B, L, embed_dim], to `out`: self attention and two
// linear layers, each with layer normalization. The mask is as above.
void transformer_encoder_layer(
    const at::Tensor& src, int64_t embed_dim, int64_t heads,
    const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
    const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool use_gelu,
    bool norm_first, double eps, const at::Tensor& norm_weight_1,
    const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2,
    const at::Tensor& norm_bias_2, const at::Tensor& ffn_weight_1,
    const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
    const at::Tensor& ffn_bias_2, const std::optional<at::Tensor>& mask,
    std::optional<int64_t> mask_type, const at::Tensor& out);

}  // namespace openreg::kernels

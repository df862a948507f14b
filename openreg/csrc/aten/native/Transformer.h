// The fast paths of Transformer layers in inference; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg {

// Self attention of `query` [B, L, D]: the output [B, L, D], and if `need_weights` the
// probabilities [B, L, L], or [B, H, L, L] if they are not averaged. `mask` says what
// is hidden; its sizes by `mask_type`: 0 is [L, L], 1 is [B, L], 2 is [B, H, L, L].
std::tuple<at::Tensor, at::Tensor> native_multi_head_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    int64_t embed_dim, int64_t num_head, const at::Tensor& qkv_weight,
    const at::Tensor& qkv_bias, const at::Tensor& proj_weight,
    const at::Tensor& proj_bias, const std::optional<at::Tensor>& mask,
    bool need_weights, bool average_attn_weights, std::optional<int64_t> mask_type);

// A whole layer of the encoder, from `src` [B, L, D] to the same size.
at::Tensor transformer_encoder_layer(
    const at::Tensor& src, int64_t embed_dim, int64_t num_heads,
    const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
    const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool use_gelu,
    bool norm_first, double eps, const at::Tensor& norm_weight_1,
    const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2,
    const at::Tensor& norm_bias_2, const at::Tensor& ffn_weight_1,
    const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
    const at::Tensor& ffn_bias_2, const std::optional<at::Tensor>& mask,
    std::optional<int64_t> mask_type);

// The encoder asks this before it packs a batch into a nested tensor. These compute in
// many small kernels here, so the answer is false, and the batch stays padded.
bool nested_tensor_from_mask_left_aligned(const at::Tensor& t, const at::Tensor& mask);

}  // namespace openreg

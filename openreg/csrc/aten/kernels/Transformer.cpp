// Kernels of Transformer layers in inference; see docs/operators/fused-layers.md.
#include "csrc/aten/kernels/Transformer.h"

#include <ATen/ops/_native_multi_head_attention.h>
#include <ATen/ops/_transformer_encoder_layer_fwd.h>

#include "csrc/aten/kernels/WantedOutputs.h"

namespace openreg::kernels {

void multi_head_attention(const at::Tensor& query, const at::Tensor& key,
                          const at::Tensor& value, int64_t embed_dim, int64_t heads,
                          const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
                          const at::Tensor& proj_weight, const at::Tensor& proj_bias,
                          const std::optional<at::Tensor>& mask, bool need_weights,
                          bool average_attn_weights, std::optional<int64_t> mask_type,
                          const at::Tensor& out, const at::Tensor& weights) {
  const auto [values, probabilities] = at::_native_multi_head_attention(
      query, key, value, embed_dim, heads, qkv_weight, qkv_bias, proj_weight, proj_bias,
      mask, need_weights, average_attn_weights, mask_type);
  out.copy_(values);
  copy_if_wanted(weights, probabilities);
}

void transformer_encoder_layer(
    const at::Tensor& src, int64_t embed_dim, int64_t heads,
    const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
    const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool use_gelu,
    bool norm_first, double eps, const at::Tensor& norm_weight_1,
    const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2,
    const at::Tensor& norm_bias_2, const at::Tensor& ffn_weight_1,
    const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
    const at::Tensor& ffn_bias_2, const std::optional<at::Tensor>& mask,
    std::optional<int64_t> mask_type, const at::Tensor& out) {
  out.copy_(at::_transformer_encoder_layer_fwd(
      src, embed_dim, heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu,
      norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2,
      ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type));
}

}  // namespace openreg::kernels

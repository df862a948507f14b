// Meta functions of the fast paths of Transformer layers in inference; see
// docs/operators/fused-layers.md.
#include "csrc/aten/meta/Transformer.h"

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {
namespace {

void check_input(const char* name, const at::Tensor& input, int64_t embed_dim,
                 int64_t heads) {
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype), "openreg: ", name,
                              " is not implemented for '", dtype, "'");
  TORCH_CHECK(embed_dim > 0 && input.dim() == 3 && input.size(2) == embed_dim,
              "openreg: ", name, ": expected an input [B, L, ", embed_dim,
              "], but got ", input.sizes());
  TORCH_CHECK(heads > 0 && embed_dim % heads == 0, "openreg: ", name, ": ", embed_dim,
              " features cannot be divided by ", heads, " heads");
}

// Checks one parameter of the layer.
void check_parameter(const char* name, const at::Tensor& input,
                     const at::Tensor& tensor, at::IntArrayRef sizes) {
  TORCH_CHECK(tensor.sizes() == sizes && tensor.scalar_type() == input.scalar_type(),
              "openreg: ", name, ": expected a parameter of size ", sizes,
              " and dtype ", input.scalar_type(), ", but got ", tensor.sizes(), " and ",
              tensor.scalar_type());
}

void check_mask(const char* name, const at::Tensor& input, int64_t heads,
                const std::optional<at::Tensor>& mask, std::optional<int64_t> type) {
  if (!is_given(mask)) {
    return;
  }
  TORCH_CHECK(type.has_value() && *type >= 0 && *type <= 2, "openreg: ", name,
              ": a mask needs a mask_type of 0, 1 or 2, but got ",
              type.has_value() ? c10::str(*type) : std::string("None"));
  const int64_t batch = input.size(0), length = input.size(1);
  const bool fits =
      *type == 0   ? mask->sizes() == at::IntArrayRef({length, length})
      : *type == 1 ? mask->sizes() == at::IntArrayRef({batch, length})
                   : mask->sizes() == at::IntArrayRef({batch, heads, length, length});
  TORCH_CHECK(fits, "openreg: ", name, ": a mask of type ", *type, " for an input of ",
              input.sizes(), " cannot be of size ", mask->sizes());
}

}  // namespace

void MultiHeadAttention::meta(const at::Tensor& query, const at::Tensor& key,
                              const at::Tensor& value, int64_t embed_dim,
                              int64_t num_head, const at::Tensor& qkv_weight,
                              const at::Tensor& qkv_bias, const at::Tensor& proj_weight,
                              const at::Tensor& proj_bias,
                              const std::optional<at::Tensor>& mask, bool need_weights,
                              bool average_attn_weights,
                              std::optional<int64_t> mask_type) {
  constexpr auto name = "_native_multi_head_attention";
  const int64_t d = embed_dim;
  check_input(name, query, d, num_head);
  check_mask(name, query, num_head, mask, mask_type);
  check_parameter(name, query, key, query.sizes());
  check_parameter(name, query, value, query.sizes());
  check_parameter(name, query, qkv_weight, {3 * d, d});
  check_parameter(name, query, qkv_bias, {3 * d});
  check_parameter(name, query, proj_weight, {d, d});
  check_parameter(name, query, proj_bias, {d});
  output(0, query.sizes(), query.options());
  const int64_t batch = query.size(0), length = query.size(1);
  if (need_weights && average_attn_weights) {
    output(1, {batch, length, length}, query.options());
  } else if (need_weights) {
    output(1, {batch, num_head, length, length}, query.options());
  }
}

void TransformerEncoderLayer::meta(
    const at::Tensor& src, int64_t embed_dim, int64_t num_heads,
    const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
    const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool, bool, double,
    const at::Tensor& norm_weight_1, const at::Tensor& norm_bias_1,
    const at::Tensor& norm_weight_2, const at::Tensor& norm_bias_2,
    const at::Tensor& ffn_weight_1, const at::Tensor& ffn_bias_1,
    const at::Tensor& ffn_weight_2, const at::Tensor& ffn_bias_2,
    const std::optional<at::Tensor>& mask, std::optional<int64_t> mask_type) {
  constexpr auto name = "_transformer_encoder_layer_fwd";
  const int64_t d = embed_dim;
  check_input(name, src, d, num_heads);
  TORCH_CHECK(
      ffn_weight_1.dim() == 2, "openreg: ", name,
      ": the weight of the first linear layer must have 2 dimensions, but has size ",
      ffn_weight_1.sizes());
  const int64_t inner = ffn_weight_1.size(0);
  check_parameter(name, src, qkv_weight, {3 * d, d});
  check_parameter(name, src, qkv_bias, {3 * d});
  check_parameter(name, src, proj_weight, {d, d});
  for (const at::Tensor* vector : {&proj_bias, &norm_weight_1, &norm_bias_1,
                                   &norm_weight_2, &norm_bias_2, &ffn_bias_2}) {
    check_parameter(name, src, *vector, {d});
  }
  check_parameter(name, src, ffn_weight_1, {inner, d});
  check_parameter(name, src, ffn_bias_1, {inner});
  check_parameter(name, src, ffn_weight_2, {d, inner});
  check_mask(name, src, num_heads, mask, mask_type);
  output(0, src.sizes(), src.options());
}

}  // namespace openreg

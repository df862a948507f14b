// Fast paths of Transformer layers in inference; see docs/operators/fused-layers.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <vector>

#include "csrc/aten/kernels/Transformer.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
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

// Checks one parameter of the layer and captures it.
KernelTensorArg parameter(const char* name, const at::Tensor& input,
                          const at::Tensor& tensor, at::IntArrayRef sizes) {
  check_same_device(name, input, tensor);
  TORCH_CHECK(tensor.sizes() == sizes && tensor.scalar_type() == input.scalar_type(),
              "openreg: ", name, ": expected a parameter of size ", sizes,
              " and dtype ", input.scalar_type(), ", but got ", tensor.sizes(), " and ",
              tensor.scalar_type());
  return KernelTensorArg::input(tensor);
}

// The mask as the kernel takes it: boolean, true for what is hidden. nn.Transformer
// passes minus infinity there, and zero elsewhere. Undefined if there is none.
at::Tensor boolean_mask(const char* name, const at::Tensor& input, int64_t heads,
                        const std::optional<at::Tensor>& mask,
                        std::optional<int64_t> type) {
  if (!is_given(mask)) {
    return {};
  }
  check_same_device(name, input, mask);
  TORCH_CHECK(type.has_value() && *type >= 0 && *type <= 2, "openreg: ", name,
              ": a mask needs a mask_type of 0, 1 or 2");
  const int64_t batch = input.size(0), length = input.size(1);
  const bool fits =
      *type == 0   ? mask->sizes() == at::IntArrayRef({length, length})
      : *type == 1 ? mask->sizes() == at::IntArrayRef({batch, length})
                   : mask->sizes() == at::IntArrayRef({batch, heads, length, length});
  TORCH_CHECK(fits, "openreg: ", name, ": a mask of type ", *type, " for an input of ",
              input.sizes(), " cannot be of size ", mask->sizes());
  return mask->to(at::kBool);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> native_multi_head_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    int64_t embed_dim, int64_t num_head, const at::Tensor& qkv_weight,
    const at::Tensor& qkv_bias, const at::Tensor& proj_weight,
    const at::Tensor& proj_bias, const std::optional<at::Tensor>& mask,
    bool need_weights, bool average_attn_weights, std::optional<int64_t> mask_type) {
  constexpr auto name = "_native_multi_head_attention";
  const int64_t d = embed_dim;
  check_input(name, query, d, num_head);
  const int64_t batch = query.size(0), length = query.size(1);
  at::Tensor out = at::empty(query.sizes(), query.options());
  at::Tensor weights;
  if (need_weights && average_attn_weights) {
    weights = at::empty({batch, length, length}, query.options());
  } else if (need_weights) {
    weights = at::empty({batch, num_head, length, length}, query.options());
  }
  if (query.numel() == 0) {
    return {out, weights};
  }
  const at::Tensor hidden = boolean_mask(name, query, num_head, mask, mask_type);
  launch("multi_head_attention", query.device(),
         [p = std::vector{parameter(name, query, query, query.sizes()),
                          parameter(name, query, key, query.sizes()),
                          parameter(name, query, value, query.sizes()),
                          parameter(name, query, qkv_weight, {3 * d, d}),
                          parameter(name, query, qkv_bias, {3 * d}),
                          parameter(name, query, proj_weight, {d, d}),
                          parameter(name, query, proj_bias, {d})},
          d, num_head, mask = capture_input(hidden), need_weights, average_attn_weights,
          mask_type, out = KernelTensorArg(out), weights = capture(weights)] {
           kernels::multi_head_attention(
               p[0].alias(), p[1].alias(), p[2].alias(), d, num_head, p[3].alias(),
               p[4].alias(), p[5].alias(), p[6].alias(), if_given(mask), need_weights,
               average_attn_weights, mask_type, out.alias(), alias(weights));
         });
  return {out, weights};
}

at::Tensor transformer_encoder_layer(
    const at::Tensor& src, int64_t embed_dim, int64_t num_heads,
    const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
    const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool use_gelu,
    bool norm_first, double eps, const at::Tensor& norm_weight_1,
    const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2,
    const at::Tensor& norm_bias_2, const at::Tensor& ffn_weight_1,
    const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
    const at::Tensor& ffn_bias_2, const std::optional<at::Tensor>& mask,
    std::optional<int64_t> mask_type) {
  constexpr auto name = "_transformer_encoder_layer_fwd";
  const int64_t d = embed_dim;
  check_input(name, src, d, num_heads);
  TORCH_CHECK(ffn_weight_1.dim() == 2, "openreg: ", name,
              ": the weight of the first linear layer must have 2 dimensions");
  const int64_t inner = ffn_weight_1.size(0);
  const auto checked = [&](const at::Tensor& tensor, at::IntArrayRef sizes) {
    return parameter(name, src, tensor, sizes);
  };
  at::Tensor out = at::empty(src.sizes(), src.options());
  std::vector parameters{
      checked(qkv_weight, {3 * d, d}),   checked(qkv_bias, {3 * d}),
      checked(proj_weight, {d, d}),      checked(proj_bias, {d}),
      checked(norm_weight_1, {d}),       checked(norm_bias_1, {d}),
      checked(norm_weight_2, {d}),       checked(norm_bias_2, {d}),
      checked(ffn_weight_1, {inner, d}), checked(ffn_bias_1, {inner}),
      checked(ffn_weight_2, {d, inner}), checked(ffn_bias_2, {d})};
  const at::Tensor hidden = boolean_mask(name, src, num_heads, mask, mask_type);
  if (src.numel() == 0) {
    return out;
  }
  launch("transformer_encoder_layer", src.device(),
         [in = KernelTensorArg::input(src), d, num_heads, p = std::move(parameters),
          use_gelu, norm_first, eps, mask = capture_input(hidden), mask_type,
          out = KernelTensorArg(out)] {
           kernels::transformer_encoder_layer(
               in.alias(), d, num_heads, p[0].alias(), p[1].alias(), p[2].alias(),
               p[3].alias(), use_gelu, norm_first, eps, p[4].alias(), p[5].alias(),
               p[6].alias(), p[7].alias(), p[8].alias(), p[9].alias(), p[10].alias(),
               p[11].alias(), if_given(mask), mask_type, out.alias());
         });
  return out;
}

bool nested_tensor_from_mask_left_aligned(const at::Tensor&, const at::Tensor&) {
  return false;
}

}  // namespace openreg

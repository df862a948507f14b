// The attention operators that context parallelism calls; see
// docs/modules/context-parallel.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

#include <limits>

namespace openreg {
namespace {

// LITERALINCLUDE START: EFFICIENT_LAYOUT
// The compiler computes sizes and strides with CUDA's rules:
// torch/_meta_registrations.py. CUDA's kernel keeps the heads of a position together in
// memory ...
at::Tensor by_position(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.transpose(1, 2).contiguous().transpose(1, 2)
                          : tensor;
}

// ... fills the logsumexp up to a multiple of 32 positions ...
at::Tensor padded(const at::Tensor& logsumexp) {
  const int64_t missing = -logsumexp.size(2) & 31;
  return at::constant_pad_nd(logsumexp, {0, missing},
                             std::numeric_limits<float>::infinity());
}

// ... and rounds the rows of the gradient of a bias up to 16 numbers.
at::Tensor with_aligned_rows(const at::Tensor& grad) {
  const int64_t row = grad.defined() ? grad.size(-1) : 0;
  if (row % 16 == 0) {
    return grad;
  }
  at::DimVector sizes(grad.sizes());
  sizes.back() = (row + 15) & ~15;
  return at::empty(sizes, grad.options()).slice(-1, 0, row).copy_(grad);
}
// LITERALINCLUDE END: EFFICIENT_LAYOUT

}  // namespace

// LITERALINCLUDE START: EFFICIENT_ATTENTION
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_bias, bool compute_log_sumexp,
    double dropout_p, bool is_causal, std::optional<double> scale) {
  auto result = fused_attention(query, key, value, attn_bias, dropout_p, is_causal,
                                /*return_debug_mask=*/false, scale);
  const at::Tensor& logsumexp = std::get<1>(result);
  return {by_position(std::get<0>(result)),
          compute_log_sumexp ? padded(logsumexp) : logsumexp.slice(2, 0, 0).clone(),
          std::get<6>(result), std::get<7>(result)};
}
// LITERALINCLUDE END: EFFICIENT_ATTENTION

// LITERALINCLUDE START: EFFICIENT_ATTENTION_BACKWARD
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& attn_bias, const at::Tensor& out,
    const at::Tensor& logsumexp, const at::Tensor& philox_seed,
    const at::Tensor& philox_offset, double dropout_p,
    std::array<bool, 4> grad_input_mask, bool is_causal, std::optional<double> scale) {
  auto [grad_query, grad_key, grad_value, grad_bias] = fused_attention_backward(
      grad_out, query, key, value, attn_bias, grad_input_mask, out,
      logsumexp.slice(2, 0, query.size(2)),  // without what fills it up
      /*cum_seq_q=*/{}, /*cum_seq_k=*/{}, query.size(2), key.size(2), dropout_p,
      is_causal, philox_seed, philox_offset, scale);
  return {by_position(grad_query), by_position(grad_key), by_position(grad_value),
          with_aligned_rows(grad_bias)};
}
// LITERALINCLUDE END: EFFICIENT_ATTENTION_BACKWARD

}  // namespace openreg

// The attention operators that context parallelism calls; see
// docs/modules/context-parallel.md.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <limits>

#include "csrc/aten/NativeLayers.h"
#include "csrc/aten/ops/Attention.h"

namespace openreg {
namespace {

constexpr const char* kName = "_scaled_dot_product_efficient_attention";

// LITERALINCLUDE START: EFFICIENT_LAYOUT
// The compiler computes sizes and strides with CUDA's rules:
// torch/_meta_registrations.py. CUDA's kernel keeps the heads of a position together in
// memory ...
at::Tensor empty_by_position(const at::Tensor& like, int64_t size) {
  return at::empty({like.size(0), like.size(2), like.size(1), size}, like.options())
      .transpose(1, 2);
}

// ... fills the logsumexp up to a multiple of 32 positions ...
at::Tensor padded_logsumexp(const at::Tensor& query) {
  const int64_t length = (query.size(2) + 31) & ~31;
  const at::Tensor padded = at::empty({query.size(0), query.size(1), length},
                                      query.options().dtype(at::kFloat));
  if (length != query.size(2)) {
    padded.slice(2, query.size(2)).fill_(std::numeric_limits<float>::infinity());
  }
  return padded;
}
// LITERALINCLUDE END: EFFICIENT_LAYOUT

// ... and rounds the rows of the gradient of a bias up to 16 numbers.
at::Tensor empty_with_aligned_rows(const at::Tensor& bias) {
  const int64_t row = bias.size(-1);
  if (row % 16 == 0) {
    return at::empty_like(bias);
  }
  at::DimVector sizes(bias.sizes());
  sizes.back() = (row + 15) & ~15;
  return at::empty(sizes, bias.options()).slice(-1, 0, row);
}

}  // namespace

// LITERALINCLUDE START: EFFICIENT_ATTENTION
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_bias, bool compute_log_sumexp,
    double dropout_p, bool is_causal, std::optional<double> scale) {
  const bool empty = query.numel() == 0;  // (1)
  if (!empty) {
    check_attention(kName, query, key, value, attn_bias, dropout_p);
  }
  const at::Tensor out = empty_by_position(query, value.size(3));
  const at::Tensor logsumexp = padded_logsumexp(query);
  const at::Tensor seed = at::empty({}, query.options().dtype(at::kLong));
  const at::Tensor offset = at::empty({}, query.options().dtype(at::kLong));
  const at::Tensor written = logsumexp.slice(2, 0, query.size(2));
  if (!empty) {
    launch_attention("attention", query, key, value, attn_bias,
                     {dropout_p, is_causal, scale}, out, written, seed, offset);
  }
  const at::Tensor none = logsumexp.new_empty({query.size(0), query.size(1), 0});
  return {out, compute_log_sumexp ? logsumexp : none, seed, offset};
}
// LITERALINCLUDE END: EFFICIENT_ATTENTION

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& attn_bias, const at::Tensor& out,
    const at::Tensor& logsumexp, const at::Tensor& philox_seed,
    const at::Tensor& philox_offset, double dropout_p,
    std::array<bool, 4> grad_input_mask, bool is_causal, std::optional<double> scale) {
  if (!grad_out.defined()) {  // nothing that is differentiated depends on the output
    return {};
  }
  std::array<at::Tensor, 4> grads;
  const std::array<const at::Tensor*, 3> inputs{&query, &key, &value};
  for (const auto i : c10::irange(inputs.size())) {
    if (grad_input_mask[i]) {
      grads[i] = empty_by_position(*inputs[i], inputs[i]->size(3));
    }
  }
  if (grad_input_mask[3] && attn_bias.defined()) {
    grads[3] = empty_with_aligned_rows(attn_bias);
  }
  if (query.numel() == 0) {
    for (const at::Tensor& grad : grads) {
      if (grad.defined()) {
        grad.zero_();
      }
    }
    return {grads[0], grads[1], grads[2], grads[3]};
  }
  const at::Tensor used =
      logsumexp.slice(2, 0, query.size(2));  // without what fills up
  launch_attention_backward("_scaled_dot_product_efficient_attention_backward",
                            grad_out, query, key, value, attn_bias,
                            {out, used, philox_seed, philox_offset},
                            {dropout_p, is_causal, scale}, grads);
  return {grads[0], grads[1], grads[2], grads[3]};
}

}  // namespace openreg

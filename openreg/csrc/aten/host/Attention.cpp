// The host half of fused scaled dot product attention; see docs/operators/attention.md.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/SymInt.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/kernels/Attention.h"
#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg {
namespace {

// A size that depends on data counts as not zero, because the choice cannot evaluate
// it.
bool has_no_elements(const at::Tensor& tensor) {
  return TORCH_GUARD_OR_FALSE(c10::sym_eq(tensor.sym_numel(), 0));
}

// VENDOR: which arguments your fused attention takes
// LITERALINCLUDE START: ATTENTION_WHY_NOT
// Why the fused kernel cannot take these arguments; null if it can. The choice calls
// this to select the math implementation, and the operator to raise an error. A
// compiler passes symbolic sizes, so each comparison may become a guard of its graph.
const char* why_not(const at::Tensor& query, const at::Tensor& key,
                    const at::Tensor& value, const std::optional<at::Tensor>& mask,
                    bool groups_allowed) {
  if (query.is_nested() || key.is_nested() || value.is_nested() || query.dim() != 4 ||
      key.dim() != 4 || value.dim() != 4) {
    return "query, key and value must be dense tensors with 4 dimensions";
  }
  const at::ScalarType dtype = query.scalar_type();
  if (!is_common_floating(dtype) || key.scalar_type() != dtype ||
      value.scalar_type() != dtype) {
    return "query, key and value must have the same floating point dtype";
  }
  // LITERALINCLUDE END: ATTENTION_WHY_NOT
  // LITERALINCLUDE START: ATTENTION_WHY_NOT_SIZES
  const auto q = query.sym_sizes(), k = key.sym_sizes(), v = value.sym_sizes();
  const c10::SymInt &batch = q[0], &heads = q[1], &kv_heads = k[1];
  if (has_no_elements(query) || has_no_elements(key) || has_no_elements(value)) {
    return "query, key and value must not be empty";
  }
  if (k[0] != batch || v[0] != batch || v[1] != kv_heads || v[2] != k[2] ||
      k[3] != q[3]) {
    return "the sizes of query, key and value do not match";
  }
  if (heads != kv_heads && (!groups_allowed || heads % kv_heads != 0)) {
    return "query and key need the same number of heads, or a multiple with enable_gqa";
  }
  if (is_given(mask) &&
      ((mask->scalar_type() != dtype && mask->scalar_type() != at::kFloat &&
        mask->scalar_type() != at::kBool) ||
       !at::is_expandable_to(mask->sym_sizes(), {batch, heads, q[2], k[2]}))) {
    return "the mask must broadcast to the scores, in their dtype, float32 or boolean";
  }
  return nullptr;
}
// LITERALINCLUDE END: ATTENTION_WHY_NOT_SIZES

// The order in which implementations are tried. Torch's order has math before
// overrideable, but it counts as a preference only if the user set it with
// sdpa_kernel(..., set_priority=True).
std::array<at::SDPBackend, at::num_sdp_backends> priority_order() {
  using at::SDPBackend;
  constexpr std::array<SDPBackend, at::num_sdp_backends> by_torch{
      SDPBackend::flash_attention, SDPBackend::efficient_attention, SDPBackend::math,
      SDPBackend::cudnn_attention, SDPBackend::overrideable};
  auto order = at::globalContext().sDPPriorityOrder();
  if (order == by_torch) {
    std::swap(order[2], order[4]);
  }
  return order;
}

// The settings of a call.
struct Options {
  double dropout_p;
  bool is_causal;
  std::optional<double> scale;
};

kernels::AttentionProblem problem_of(const at::Tensor& query, const Options& options) {
  const auto size = static_cast<double>(query.size(3));
  return {options.scale.value_or(1 / std::sqrt(size)), options.dropout_p,
          options.is_causal};
}

// An output of this size, with the dimensions in the memory order of the query. The
// compiler computes strides with the same rule: torch/_meta_registrations.py.
at::Tensor empty_in_layout_of(const at::Tensor& query, at::IntArrayRef sizes) {
  if (query.sizes() == sizes) {
    return at::empty_like(query);
  }
  std::array<int64_t, 4> order{0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&query](int64_t one, int64_t other) {
    return query.stride(one) > query.stride(other);
  });
  std::array<int64_t, 4> strides{};
  int64_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides[*dim] = stride;
    stride *= sizes[*dim];
  }
  return at::empty_strided(sizes, strides, query.options());
}

// One random number for each score; a block has four.
PhiloxKernelState reserve_scores(const at::Tensor& query, const at::Tensor& key) {
  const int64_t scores = query.size(0) * query.size(1) * query.size(2) * key.size(2);
  return reserve(std::nullopt, query.device().index(),
                 static_cast<uint64_t>((scores + 3) / 4));
}

void check_attention(const char* name, const at::Tensor& query, const at::Tensor& key,
                     const at::Tensor& value, const std::optional<at::Tensor>& bias,
                     double dropout_p) {
  check_same_device(name, query, key, value, bias);
  const char* reason = why_not(query, key, value, bias, /*groups_allowed=*/true);
  TORCH_CHECK(reason == nullptr, "openreg: ", name, ": ", reason, ", but they are ",
              query.sizes(), " ", query.scalar_type(), ", ", key.sizes(), " ",
              key.scalar_type(), " and ", value.sizes(), " ", value.scalar_type());
  TORCH_CHECK(!is_given(bias) || bias->scalar_type() != at::kBool, "openreg: ", name,
              ": attn_bias is added to the scores, so it cannot be boolean");
  TORCH_CHECK(dropout_p >= 0 && dropout_p <= 1,
              "dropout probability has to be between 0 and 1, but got ", dropout_p);
}

// LITERALINCLUDE START: ATTENTION_LAUNCH
// Writes `out` [B, H, L, Ev] and `logsumexp` [B, H, L] of any strides, and where the
// random numbers of the dropout began.
void attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
            const std::optional<at::Tensor>& bias, const Options& options,
            at::Tensor& out, at::Tensor& logsumexp, at::Tensor& seed,
            at::Tensor& offset) {
  PhiloxKernelState random({0, 0});
  if (options.dropout_p > 0) {
    random = reserve_scores(query, key);  // (1)
  }
  kernels::attention(query, key, value, bias, problem_of(query, options), random, out,
                     logsumexp, seed, offset);  // (2)
}
// LITERALINCLUDE END: ATTENTION_LAUNCH

// What the forward saved, as it returned it.
struct Saved {
  const at::Tensor &out, &logsumexp, &seed, &offset;
};

// Checks the arguments, and writes the gradients of query, key, value and bias that are
// defined.
void attend_backward(const char* name, const at::Tensor& grad_out,
                     const at::Tensor& query, const at::Tensor& key,
                     const at::Tensor& value, const at::Tensor& bias,
                     const Saved& saved, const Options& options,
                     std::array<at::Tensor, 4>& grads) {
  const auto& [out, logsumexp, seed, offset] = saved;
  check_attention(name, query, key, value, bias, options.dropout_p);
  check_same_device(name, query, grad_out, out, logsumexp, seed, offset);
  const at::DimVector sizes{query.size(0), query.size(1), query.size(2), value.size(3)};
  TORCH_CHECK(out.sizes() == sizes && grad_out.sizes() == sizes &&
                  out.scalar_type() == query.scalar_type() &&
                  grad_out.scalar_type() == query.scalar_type() &&
                  logsumexp.sizes() == query.sizes().slice(0, 3) &&
                  logsumexp.scalar_type() == at::kFloat &&
                  seed.scalar_type() == at::kLong && seed.numel() == 1 &&
                  offset.scalar_type() == at::kLong && offset.numel() == 1,
              "openreg: ", name,
              ": grad_out, out, logsumexp, seed and offset must be as the forward "
              "returned them, for an output of size ",
              at::IntArrayRef(sizes));
  kernels::attention_backward(grad_out, query, key, value, bias,
                              problem_of(query, options), out, logsumexp, seed, offset,
                              grads);
}

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
  at::Tensor padded = at::empty({query.size(0), query.size(1), length},
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

// Returns the implementation for torch, an at::SDPBackend: the fused kernel, unless the
// arguments or the user exclude it, and otherwise the math backend. Throws if the user
// forbids both.
// LITERALINCLUDE START: ATTENTION_CHOICE
int64_t choose_attention(const at::Tensor& query, const at::Tensor& key,
                         const at::Tensor& value,
                         const std::optional<at::Tensor>& attn_mask, double, bool,
                         std::optional<double>, bool enable_gqa) {
  using at::SDPBackend;
  const at::Context& context = at::globalContext();
  bool overrideable = context.userEnabledOverrideableSDP();
  bool efficient = context.userEnabledMemEfficientSDP() && !enable_gqa;  // (1)
  const bool in_transform = c10::impl::tls_is_dispatch_key_included(
      c10::DispatchKey::FuncTorchDynamicLayerFrontMode);  // vmap has no rule for them
  if ((overrideable || efficient) &&  // called only if needed: see why_not
      (in_transform || why_not(query, key, value, attn_mask, enable_gqa) != nullptr)) {
    overrideable = efficient = false;
  }
  for (const SDPBackend backend : priority_order()) {  // (2)
    if ((backend == SDPBackend::efficient_attention && efficient) ||
        (backend == SDPBackend::overrideable && overrideable) ||
        (backend == SDPBackend::math && context.userEnabledMathSDP())) {
      return static_cast<int64_t>(backend);
    }
  }
  TORCH_CHECK(false,
              "No viable backend for scaled_dot_product_attention was found: openreg "
              "has efficient, overrideable and math; enable one in sdpa_kernel");
}
// LITERALINCLUDE END: ATTENTION_CHOICE

// LITERALINCLUDE START: ATTENTION
// query [B, H, L, E], key [B, Hkv, S, E], value [B, Hkv, S, Ev], where Hkv divides H;
// attn_bias is added to the scores and broadcasts to [B, H, L, S]. Returns the output
// [B, H, L, Ev], the logsumexp of the scores [B, H, L], two tensors that only nested
// tensors need (undefined), L, S, the seed and the offset of the dropout, and a debug
// mask (undefined).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt,
           at::Tensor, at::Tensor, at::Tensor>
fused_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                const std::optional<at::Tensor>& attn_bias, double dropout_p,
                bool is_causal, bool return_debug_mask, std::optional<double> scale) {
  constexpr auto name = "_scaled_dot_product_fused_attention_overrideable";
  check_attention(name, query, key, value, attn_bias, dropout_p);
  TORCH_CHECK(!return_debug_mask, "openreg: attention cannot return a debug mask");
  const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2);
  at::Tensor out =
      empty_in_layout_of(query, {batch, heads, length, value.size(3)});  // (1)
  at::Tensor logsumexp =
      at::empty({batch, heads, length}, query.options().dtype(at::kFloat));
  at::Tensor seed = at::empty({}, query.options().dtype(at::kLong));  // (2)
  at::Tensor offset = at::empty({}, query.options().dtype(at::kLong));
  attend(query, key, value, attn_bias, {dropout_p, is_causal, scale}, out, logsumexp,
         seed, offset);
  return {out, logsumexp, {}, {}, length, key.size(2), seed, offset, {}};
}
// LITERALINCLUDE END: ATTENTION

// The gradients of query, key, value and attn_bias; undefined where the mask is false.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> fused_attention_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& attn_bias,
    std::array<bool, 4> grad_input_mask, const at::Tensor& out,
    const at::Tensor& logsumexp, const at::Tensor& /*cum_seq_q*/,
    const at::Tensor& /*cum_seq_k*/, c10::SymInt /*max_q*/, c10::SymInt /*max_k*/,
    double dropout_p, bool is_causal, const at::Tensor& philox_seed,
    const at::Tensor& philox_offset, std::optional<double> scale) {
  if (!grad_out.defined()) {  // nothing that is differentiated depends on the output
    return {};
  }
  std::array<at::Tensor, 4> grads;
  const std::array<const at::Tensor*, 4> inputs{&query, &key, &value, &attn_bias};
  for (const auto i : c10::irange(inputs.size())) {
    if (grad_input_mask[i] && inputs[i]->defined()) {
      grads[i] = at::empty_like(*inputs[i]);
    }
  }
  attend_backward("_scaled_dot_product_fused_attention_overrideable_backward", grad_out,
                  query, key, value, attn_bias,
                  {out, logsumexp, philox_seed, philox_offset},
                  {dropout_p, is_causal, scale}, grads);
  return {grads[0], grads[1], grads[2], grads[3]};
}

// -- what context parallelism calls; see docs/modules/sharding-attention.md --

// LITERALINCLUDE START: EFFICIENT_ATTENTION
// As fused_attention, under the name of CUDA's memory-efficient kernel, which context
// parallelism calls: the output [B, H, L, Ev], the logsumexp [B, H, L], where L is
// filled up to a multiple of 32 (without elements unless `compute_log_sumexp`), seed
// and offset.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_bias, bool compute_log_sumexp,
    double dropout_p, bool is_causal, std::optional<double> scale) {
  const bool empty = query.numel() == 0;  // (1)
  if (!empty) {
    check_attention("_scaled_dot_product_efficient_attention", query, key, value,
                    attn_bias, dropout_p);
  }
  at::Tensor out = empty_by_position(query, value.size(3));
  at::Tensor logsumexp = padded_logsumexp(query);
  at::Tensor seed = at::empty({}, query.options().dtype(at::kLong));
  at::Tensor offset = at::empty({}, query.options().dtype(at::kLong));
  at::Tensor written = logsumexp.slice(2, 0, query.size(2));
  if (!empty) {
    attend(query, key, value, attn_bias, {dropout_p, is_causal, scale}, out, written,
           seed, offset);
  }
  const at::Tensor none = logsumexp.new_empty({query.size(0), query.size(1), 0});
  return {out, compute_log_sumexp ? logsumexp : none, seed, offset};
}
// LITERALINCLUDE END: EFFICIENT_ATTENTION

// The gradients of query, key, value and attn_bias; undefined where the mask is false.
// `logsumexp` has L positions or more.
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
  const at::Tensor used = logsumexp.slice(2, 0, query.size(2));  // without the padding
  attend_backward("_scaled_dot_product_efficient_attention_backward", grad_out, query,
                  key, value, attn_bias, {out, used, philox_seed, philox_offset},
                  {dropout_p, is_causal, scale}, grads);
  return {grads[0], grads[1], grads[2], grads[3]};
}

// LITERALINCLUDE START: REGISTER_EFFICIENT_ATTENTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_scaled_dot_product_efficient_attention", efficient_attention);
  m.impl("_scaled_dot_product_efficient_attention_backward",
         efficient_attention_backward);
}
// LITERALINCLUDE END: REGISTER_EFFICIENT_ATTENTION

// LITERALINCLUDE START: REGISTER_ATTENTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_scaled_dot_product_fused_attention_overrideable", fused_attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward",
         fused_attention_backward);
  m.impl("_fused_sdp_choice", choose_attention);  // for callers of its name only
}

}  // namespace
}  // namespace openreg

namespace at::native {
// This is the choice that scaled_dot_product_attention makes.
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &openreg::choose_attention)
}  // namespace at::native
// LITERALINCLUDE END: REGISTER_ATTENTION

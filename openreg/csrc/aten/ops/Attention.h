// The launches of fused attention, into outputs that the caller made; see
// docs/operators/attention.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

namespace openreg {

// The settings of a call.
struct AttentionOptions {
  double dropout_p;
  bool is_causal;
  std::optional<double> scale;
};

// Throws for arguments that the kernel cannot take.
void check_attention(const char* name, const at::Tensor& query, const at::Tensor& key,
                     const at::Tensor& value, const std::optional<at::Tensor>& bias,
                     double dropout_p);

// Writes `out` [B, H, L, Ev] and `logsumexp` [B, H, L] of any strides, and where the
// random numbers of the dropout began.
void launch_attention(const char* name, const at::Tensor& query, const at::Tensor& key,
                      const at::Tensor& value, const std::optional<at::Tensor>& bias,
                      const AttentionOptions& options, const at::Tensor& out,
                      const at::Tensor& logsumexp, const at::Tensor& seed,
                      const at::Tensor& offset);

// What the forward saved, as it returned it.
struct AttentionSaved {
  const at::Tensor &out, &logsumexp, &seed, &offset;
};

// Checks the arguments, and writes the gradients of query, key, value and bias that are
// defined.
void launch_attention_backward(const char* name, const at::Tensor& grad_out,
                               const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const at::Tensor& bias,
                               const AttentionSaved& saved,
                               const AttentionOptions& options,
                               const std::array<at::Tensor, 4>& grads);

}  // namespace openreg

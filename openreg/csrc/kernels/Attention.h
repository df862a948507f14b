// Kernels of attention; see docs/operators/attention.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

#include "csrc/runtime/random/PhiloxState.h"

namespace openreg::kernels {

struct AttentionProblem {
  double scale;
  double dropout_p;
  bool is_causal;
};

// Writes `out` and `logsumexp`, of any strides. Writes where the random numbers of the
// dropout began to `seed` and `offset`.
void attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
               const std::optional<at::Tensor>& bias, const AttentionProblem& problem,
               const PhiloxKernelState& random, at::Tensor& out, at::Tensor& logsumexp,
               at::Tensor& seed, at::Tensor& offset);

// Writes those of `grads` that are defined: of query, key, value and bias. The bias may
// be undefined.
void attention_backward(const at::Tensor& grad_out, const at::Tensor& query,
                        const at::Tensor& key, const at::Tensor& value,
                        const at::Tensor& bias, const AttentionProblem& problem,
                        const at::Tensor& out, const at::Tensor& logsumexp,
                        const at::Tensor& seed, const at::Tensor& offset,
                        std::array<at::Tensor, 4>& grads);

}  // namespace openreg::kernels

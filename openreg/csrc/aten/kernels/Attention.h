// The device's side of attention: CPU tensors in, CPU tensors out; see
// docs/operators/attention-kernel.md.
#pragma once

#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>

#include <array>

namespace openreg {

struct AttentionProblem {
  double scale;
  double dropout_p;
  bool is_causal;
};

struct AttentionInputs {
  at::Tensor query, key, value, bias;  // the bias may be undefined
  at::Tensor seed, offset;             // of the dropout
};

// Writes `out` and `logsumexp`.
void attention_kernel(const AttentionInputs& in, const AttentionProblem& problem,
                      const at::Tensor& out, const at::Tensor& logsumexp);

// Writes those of `grads` that are defined: of query, key, value and bias.
void attention_backward_kernel(const at::Tensor& grad_out, const AttentionInputs& in,
                               const AttentionProblem& problem, const at::Tensor& out,
                               const at::Tensor& logsumexp,
                               const std::array<at::Tensor, 4>& grads);

}  // namespace openreg

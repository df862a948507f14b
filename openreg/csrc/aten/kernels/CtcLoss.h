// The loss of connectionist temporal classification; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace openreg::kernels {

// Writes the loss of each sequence of the batch, and the log probabilities of each
// prefix for the backward. Throws if a target is not the number of a label.
std::tuple<at::Tensor&, at::Tensor&> ctc_loss_out(
    const at::Tensor& log_probs, const at::Tensor& targets,
    at::IntArrayRef input_lengths, at::IntArrayRef target_lengths, int64_t blank,
    bool zero_infinity, at::Tensor& loss, at::Tensor& log_alpha);

// Writes the gradient of `log_probs`, of the same sizes, to `result`. Throws as
// ctc_loss_out() does.
at::Tensor& ctc_loss_backward_out(const at::Tensor& grad, const at::Tensor& log_probs,
                                  const at::Tensor& targets,
                                  at::IntArrayRef input_lengths,
                                  at::IntArrayRef target_lengths,
                                  const at::Tensor& neg_log_likelihood,
                                  const at::Tensor& log_alpha, int64_t blank,
                                  bool zero_infinity, at::Tensor& result);

}  // namespace openreg::kernels

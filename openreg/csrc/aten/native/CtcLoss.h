// The loss of connectionist temporal classification; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace openreg {

std::tuple<at::Tensor, at::Tensor> ctc_loss(const at::Tensor& log_probs,
                                            const at::Tensor& targets,
                                            at::IntArrayRef input_lengths,
                                            at::IntArrayRef target_lengths,
                                            int64_t blank, bool zero_infinity);
// With lengths as tensors: the host waits for them, as on CUDA.
std::tuple<at::Tensor, at::Tensor> ctc_loss_tensor(const at::Tensor& log_probs,
                                                   const at::Tensor& targets,
                                                   const at::Tensor& input_lengths,
                                                   const at::Tensor& target_lengths,
                                                   int64_t blank, bool zero_infinity);
at::Tensor ctc_loss_backward(const at::Tensor& grad, const at::Tensor& log_probs,
                             const at::Tensor& targets, at::IntArrayRef input_lengths,
                             at::IntArrayRef target_lengths,
                             const at::Tensor& neg_log_likelihood,
                             const at::Tensor& log_alpha, int64_t blank,
                             bool zero_infinity);
at::Tensor ctc_loss_backward_tensor(const at::Tensor& grad, const at::Tensor& log_probs,
                                    const at::Tensor& targets,
                                    const at::Tensor& input_lengths,
                                    const at::Tensor& target_lengths,
                                    const at::Tensor& neg_log_likelihood,
                                    const at::Tensor& log_alpha, int64_t blank,
                                    bool zero_infinity);

}  // namespace openreg

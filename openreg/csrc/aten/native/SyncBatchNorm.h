// Batch normalisation over several processes; see docs/modules/sync-batch-norm.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg {

// The operators of torch/nn/modules/_functions.py, SyncBatchNorm. In all of them
// `input` is [N, C, *], the other tensors are [C] unless they say otherwise. Statistics
// of float16 and bfloat16 are float32. Errors: RuntimeError for other sizes or devices,
// NotImplementedError for a dtype that is not floating.

// Mean, and 1 / sqrt(variance + eps), of this process' part.
std::tuple<at::Tensor, at::Tensor> batch_norm_stats(const at::Tensor& input,
                                                    double eps);

// The same of all parts: `mean` and `invstd` are [P, C], `counts` [P] has the number of
// elements of each part. Updates the running statistics, if they are given.
std::tuple<at::Tensor, at::Tensor> batch_norm_gather_stats_with_counts(
    const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum, double eps,
    const at::Tensor& counts);
std::tuple<at::Tensor, at::Tensor> batch_norm_gather_stats(
    const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum, double eps,
    int64_t count);

// (input - mean) * invstd * weight + bias, in the dtype of `input`.
at::Tensor batch_norm_elemt(const at::Tensor& input,
                            const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias,
                            const at::Tensor& mean, const at::Tensor& invstd,
                            double eps);

// Of this process' part: the sums of grad_out and of grad_out * (input - mean), the
// gradients of weight and bias. What is not asked for is undefined.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> batch_norm_backward_reduce(
    const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, const std::optional<at::Tensor>& weight, bool input_g,
    bool weight_g, bool bias_g);

// The gradient of `input`, from the sums over all parts; `count` is as `counts` above.
at::Tensor batch_norm_backward_elemt(
    const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
    const at::Tensor& sum_dy, const at::Tensor& sum_dy_xmu, const at::Tensor& count);

}  // namespace openreg

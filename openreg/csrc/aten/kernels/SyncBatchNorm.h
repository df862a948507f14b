// Kernels of batch normalization over several processes; see
// docs/modules/sync-batch-norm.md.
#pragma once

#include <ATen/core/Tensor.h>

// In all kernels, dimension 1 of `input` is the channels. Tensors of one number for
// each channel are vectors. `invstd` is one over the standard deviation.
namespace openreg::kernels {

// Writes the mean and the `invstd` of each channel of `input`.
void batch_norm_stats(const at::Tensor& input, double eps, const at::Tensor& mean,
                      const at::Tensor& invstd);

// Combines the statistics of parts, [parts, channels], to those of the whole. `counts`
// has the number of elements of each part. Updates the running statistics in place;
// they may be undefined.
void batch_norm_gather_stats(const at::Tensor& means, const at::Tensor& invstds,
                             const at::Tensor& counts, double momentum, double eps,
                             const at::Tensor& out_mean, const at::Tensor& out_invstd,
                             const at::Tensor& running_mean,
                             const at::Tensor& running_var);

// Writes the normalized `input`, times `weight` plus `bias`, to `out`. Weight and bias
// may be undefined.
void batch_norm_elemt(const at::Tensor& input, const at::Tensor& weight,
                      const at::Tensor& bias, const at::Tensor& mean,
                      const at::Tensor& invstd, const at::Tensor& out);

// Writes the outputs that are defined, one number for each channel: the sums of
// `grad_out`, and of its product with the input minus the mean; the gradients of weight
// and bias.
void batch_norm_backward_reduce(const at::Tensor& grad_out, const at::Tensor& input,
                                const at::Tensor& mean, const at::Tensor& invstd,
                                const at::Tensor& sum_dy, const at::Tensor& sum_dy_xmu,
                                const at::Tensor& grad_weight,
                                const at::Tensor& grad_bias);

// Writes the gradient of the input to `grad_in`. `sum_dy` and `sum_dy_xmu` are sums
// over all processes, `count` has the number of elements of each. The weight may be
// undefined.
void batch_norm_backward_elemt(const at::Tensor& grad_out, const at::Tensor& input,
                               const at::Tensor& mean, const at::Tensor& invstd,
                               const at::Tensor& weight, const at::Tensor& sum_dy,
                               const at::Tensor& sum_dy_xmu, const at::Tensor& count,
                               const at::Tensor& grad_in);

}  // namespace openreg::kernels

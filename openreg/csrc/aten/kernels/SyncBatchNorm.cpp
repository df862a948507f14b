// Kernels of batch normalization over several processes; see
// docs/modules/sync-batch-norm.md.
#include "csrc/aten/kernels/SyncBatchNorm.h"

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/var_mean.h>
#include <c10/util/DimVector.h>

#include "csrc/aten/kernels/WantedOutputs.h"

namespace openreg::kernels {
namespace {

at::Tensor in_statistics_dtype(const at::Tensor& tensor, const at::Tensor& input) {
  return tensor.to(at::toOpMathType(input.scalar_type()));
}

// One number for each channel, to compute with the whole input.
at::Tensor by_channel(const at::Tensor& numbers, const at::Tensor& input) {
  c10::DimVector sizes(input.dim(), 1);
  sizes[1] = numbers.numel();
  return in_statistics_dtype(numbers, input).view(sizes);
}

// All dimensions but the channels.
c10::DimVector all_but_channels(const at::Tensor& input) {
  c10::DimVector dims{0};
  for (int64_t dim = 2; dim < input.dim(); ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

}  // namespace

void batch_norm_stats(const at::Tensor& input, double eps, const at::Tensor& mean,
                      const at::Tensor& invstd) {
  const auto [variance, average] = at::var_mean(
      in_statistics_dtype(input, input), all_but_channels(input), /*correction=*/0);
  mean.copy_(average);
  invstd.copy_((variance + eps).rsqrt());
}

// LITERALINCLUDE START: GATHER_STATS
void batch_norm_gather_stats(const at::Tensor& means, const at::Tensor& invstds,
                             const at::Tensor& counts, double momentum, double eps,
                             const at::Tensor& out_mean, const at::Tensor& out_invstd,
                             const at::Tensor& running_mean,
                             const at::Tensor& running_var) {
  // In double: the squares of large means nearly cancel.
  const at::Tensor n = counts.to(at::kDouble).view({counts.numel(), 1});
  const at::Tensor means_of = means.to(at::kDouble);
  const at::Tensor variances = invstds.to(at::kDouble).pow(-2) - eps;
  const at::Tensor total = n.sum();
  const at::Tensor mean = (means_of * n).sum(0) / total;
  const at::Tensor squares = ((variances + (means_of - mean).square()) * n).sum(0);
  out_mean.copy_(mean);
  out_invstd.copy_((squares / total + eps).rsqrt());
  if (running_mean.defined()) {
    running_mean.mul_(1 - momentum).add_(mean, momentum);
  }
  if (running_var.defined()) {
    const at::Tensor variance = squares / (total - 1);  // (1)
    running_var.mul_(1 - momentum).add_(variance, momentum);
  }
}
// LITERALINCLUDE END: GATHER_STATS

void batch_norm_elemt(const at::Tensor& input, const at::Tensor& weight,
                      const at::Tensor& bias, const at::Tensor& mean,
                      const at::Tensor& invstd, const at::Tensor& out) {
  at::Tensor y = (input - by_channel(mean, input)) * by_channel(invstd, input);
  if (weight.defined()) {
    y = y * by_channel(weight, input);
  }
  if (bias.defined()) {
    y = y + by_channel(bias, input);
  }
  out.copy_(y);
}

void batch_norm_backward_reduce(const at::Tensor& grad_out, const at::Tensor& input,
                                const at::Tensor& mean, const at::Tensor& invstd,
                                const at::Tensor& sum_dy, const at::Tensor& sum_dy_xmu,
                                const at::Tensor& grad_weight,
                                const at::Tensor& grad_bias) {
  const at::Tensor dy = in_statistics_dtype(grad_out, input);
  const auto dims = all_but_channels(input);
  const at::Tensor sum = dy.sum(dims);
  const at::Tensor sum_xmu = (dy * (input - by_channel(mean, input))).sum(dims);
  copy_if_wanted(sum_dy, sum);
  copy_if_wanted(sum_dy_xmu, sum_xmu);
  copy_if_wanted(grad_weight, sum_xmu * invstd);
  copy_if_wanted(grad_bias, sum);
}

void batch_norm_backward_elemt(const at::Tensor& grad_out, const at::Tensor& input,
                               const at::Tensor& mean, const at::Tensor& invstd,
                               const at::Tensor& weight, const at::Tensor& sum_dy,
                               const at::Tensor& sum_dy_xmu, const at::Tensor& count,
                               const at::Tensor& grad_in) {
  const at::Tensor total = in_statistics_dtype(count.sum(), input);
  const at::Tensor scale = by_channel(invstd, input);
  const at::Tensor slope = by_channel(sum_dy_xmu, input) / total;
  at::Tensor dx = grad_out - by_channel(sum_dy, input) / total -
                  (input - by_channel(mean, input)) * scale.square() * slope;
  dx = dx * scale;
  if (weight.defined()) {
    dx = dx * by_channel(weight, input);
  }
  grad_in.copy_(dx);
}

}  // namespace openreg::kernels

// Kernels of batch normalization over several processes; see
// docs/modules/sync-batch-norm.md.
#include "csrc/aten/meta/SyncBatchNorm.h"

#include <ATen/OpMathType.h>
#include <ATen/Operators.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/var_mean.h>
#include <c10/util/DimVector.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<at::Tensor>;

// -- on the device; dimension 1 of `input` is the channels --

Tensor in_statistics_dtype(const Tensor& tensor, const Tensor& input) {
  return tensor.to(at::toOpMathType(input.scalar_type()));
}

// One number for each channel, to compute with the whole input.
Tensor by_channel(const Tensor& numbers, const Tensor& input) {
  c10::DimVector sizes(input.dim(), 1);
  sizes[1] = numbers.numel();
  return in_statistics_dtype(numbers, input).view(sizes);
}

// All dimensions but the channels.
c10::DimVector all_but_channels(const Tensor& input) {
  c10::DimVector dims{0};
  for (int64_t dim = 2; dim < input.dim(); ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

std::tuple<Tensor&, Tensor&> stats(const Tensor& input, double eps, Tensor& mean,
                                   Tensor& invstd) {
  const auto [variance, average] = at::var_mean(
      in_statistics_dtype(input, input), all_but_channels(input), /*correction=*/0);
  mean.copy_(average);
  invstd.copy_((variance + eps).rsqrt());
  return {mean, invstd};
}

// LITERALINCLUDE START: GATHER_STATS
// Combines the statistics of parts, [parts, channels], to those of the whole.
void combine(const Tensor& means, const Tensor& invstds, const Tensor& counts,
             double momentum, double eps, Tensor& out_mean, Tensor& out_invstd,
             Tensor& running_mean, Tensor& running_var) {
  // In double: the squares of large means nearly cancel.
  const Tensor n = counts.to(at::kDouble).view({counts.numel(), 1});
  const Tensor means_of = means.to(at::kDouble);
  const Tensor variances = invstds.to(at::kDouble).pow(-2) - eps;
  const Tensor total = n.sum();
  const Tensor mean = (means_of * n).sum(0) / total;
  const Tensor squares = ((variances + (means_of - mean).square()) * n).sum(0);
  out_mean.copy_(mean);
  out_invstd.copy_((squares / total + eps).rsqrt());
  if (running_mean.defined()) {
    running_mean.mul_(1 - momentum).add_(mean, momentum);
  }
  if (running_var.defined()) {
    const Tensor variance = squares / (total - 1);  // (1)
    running_var.mul_(1 - momentum).add_(variance, momentum);
  }
}
// LITERALINCLUDE END: GATHER_STATS

Tensor& normalize(const Tensor& input, const OptionalTensor& weight,
                  const OptionalTensor& bias, const Tensor& mean, const Tensor& invstd,
                  double, Tensor& out) {
  Tensor y = (input - by_channel(mean, input)) * by_channel(invstd, input);
  if (is_given(weight)) {
    y = y * by_channel(*weight, input);
  }
  if (is_given(bias)) {
    y = y + by_channel(*bias, input);
  }
  return out.copy_(y);
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> backward_reduce(
    const Tensor& grad_out, const Tensor& input, const Tensor& mean,
    const Tensor& invstd, const OptionalTensor&, bool input_g, bool weight_g,
    bool bias_g, Tensor& sum_dy, Tensor& sum_dy_xmu, Tensor& grad_weight,
    Tensor& grad_bias) {
  const Tensor dy = in_statistics_dtype(grad_out, input);
  const auto dims = all_but_channels(input);
  const Tensor sum = dy.sum(dims);
  const Tensor sum_xmu = (dy * (input - by_channel(mean, input))).sum(dims);
  if (input_g) {
    sum_dy.copy_(sum);
    sum_dy_xmu.copy_(sum_xmu);
  }
  if (weight_g) {
    grad_weight.copy_(sum_xmu * invstd);
  }
  if (bias_g) {
    grad_bias.copy_(sum);
  }
  return {sum_dy, sum_dy_xmu, grad_weight, grad_bias};
}

Tensor& backward_normalize(const Tensor& grad_out, const Tensor& input,
                           const Tensor& mean, const Tensor& invstd,
                           const OptionalTensor& weight, const Tensor& sum_dy,
                           const Tensor& sum_dy_xmu, const Tensor& count,
                           Tensor& grad_in) {
  const Tensor total = in_statistics_dtype(count.sum(), input);
  const Tensor scale = by_channel(invstd, input);
  const Tensor slope = by_channel(sum_dy_xmu, input) / total;
  Tensor dx = grad_out - by_channel(sum_dy, input) / total -
              (input - by_channel(mean, input)) * scale.square() * slope;
  dx = dx * scale;
  if (is_given(weight)) {
    dx = dx * by_channel(*weight, input);
  }
  return grad_in.copy_(dx);
}

// -- on the host --

// Writes to the running statistics, which the schema hides.
void gather_stats_with_counts(const Tensor&, const Tensor& mean, const Tensor& invstd,
                              const OptionalTensor& running_mean,
                              const OptionalTensor& running_var, double momentum,
                              double eps, const Tensor& counts, Tensor& out_mean,
                              Tensor& out_invstd) {
  cpu::launch("batch_norm_gather_stats_with_counts", combine, mean, invstd, counts,
              momentum, eps, out_mean, out_invstd, or_undefined(running_mean),
              or_undefined(running_var));
}

void gather_stats(const Tensor& input, const Tensor& mean, const Tensor& invstd,
                  const OptionalTensor& running_mean, const OptionalTensor& running_var,
                  double momentum, double eps, int64_t count, Tensor& out_mean,
                  Tensor& out_invstd) {
  const Tensor counts =
      at::full({mean.size(0)}, count, input.options().dtype(at::kLong));
  gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum,
                           eps, counts, out_mean, out_invstd);
}

}  // namespace

// LITERALINCLUDE START: REGISTER_SYNC_BATCH_NORM
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::batch_norm_stats, BatchNormStats, stats>(m);
  structured_without_out<op::batch_norm_gather_stats, BatchNormGatherStats>(
      m, gather_stats);
  structured_without_out<op::batch_norm_gather_stats_with_counts, BatchNormGatherStats>(
      m, gather_stats_with_counts);
  cpu::on_cpu_without_out<op::batch_norm_elemt, BatchNormElemt, normalize>(m);
  cpu::on_cpu_without_out<op::batch_norm_backward_reduce, BatchNormBackwardReduce,
                          backward_reduce>(m);
  cpu::on_cpu_without_out<op::batch_norm_backward_elemt, BatchNormBackwardElemt,
                          backward_normalize>(m);
}
// LITERALINCLUDE END: REGISTER_SYNC_BATCH_NORM

}  // namespace openreg

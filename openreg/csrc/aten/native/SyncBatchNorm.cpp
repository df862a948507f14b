// Batch normalisation over several processes; see docs/modules/sync-batch-norm.md.
#include "csrc/aten/native/SyncBatchNorm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/var_mean.h>

#include "csrc/aten/native/CheckScalar.h"
#include "csrc/aten/native/Launch.h"
#include "csrc/aten/native/OptionalTensor.h"

namespace openreg {
namespace {

at::ScalarType statistics_dtype(const at::Tensor& input) {
  return input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

void check_input(const char* name, const at::Tensor& input) {
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype), "openreg: ", name,
                              " is not implemented for '", dtype, "'");
  TORCH_CHECK(input.dim() >= 2, "openreg: ", name,
              ": expected an input of at least 2 dimensions, but got ", input.sizes());
}

void check_sizes(const char* name, const char* what,
                 const std::optional<at::Tensor>& tensor, at::IntArrayRef sizes) {
  TORCH_CHECK(!is_given(tensor) || tensor->sizes() == sizes, "openreg: ", name,
              ": expected ", what, " of size ", sizes, ", but got ",
              or_undefined(tensor).sizes());
}

// Of a tensor that is there.
void check_input_and_channels(const char* name, const at::Tensor& input,
                              std::initializer_list<std::optional<at::Tensor>> all) {
  check_input(name, input);
  for (const std::optional<at::Tensor>& tensor : all) {
    check_same_device(name, input, tensor);
    check_sizes(name, "one number for each channel, a tensor", tensor, input.size(1));
  }
}

// Inside a kernel: one number for each channel, to compute with the whole input.
at::Tensor by_channel(const at::Tensor& numbers, const at::Tensor& input) {
  c10::DimVector sizes(input.dim(), 1);
  sizes[1] = numbers.numel();
  return numbers.to(statistics_dtype(input)).view(sizes);
}

// Inside a kernel: all dimensions but the channels.
c10::DimVector all_but_channels(const at::Tensor& input) {
  c10::DimVector dims{0};
  for (int64_t dim = 2; dim < input.dim(); ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> batch_norm_stats(const at::Tensor& input,
                                                    double eps) {
  check_input("batch_norm_stats", input);
  const auto options = input.options().dtype(statistics_dtype(input));
  at::Tensor mean = at::empty({input.size(1)}, options);
  at::Tensor invstd = at::empty_like(mean);
  launch("batch_norm_stats", input.device(),
         [m = KernelTensor(mean), s = KernelTensor(invstd),
          in = KernelTensor::input(input), eps] {
           const at::Tensor x = in.on_device();
           const auto [variance, average] = at::var_mean(
               x.to(statistics_dtype(x)), all_but_channels(x), /*correction=*/0);
           m.on_device().copy_(average);
           s.on_device().copy_((variance + eps).rsqrt());
         });
  return {mean, invstd};
}

// LITERALINCLUDE START: GATHER_STATS
std::tuple<at::Tensor, at::Tensor> batch_norm_gather_stats_with_counts(
    const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum, double eps,
    const at::Tensor& counts) {
  constexpr auto name = "batch_norm_gather_stats_with_counts";
  check_input_and_channels(name, input, {running_mean, running_var});
  check_same_device(name, input, mean, invstd, counts);
  const int64_t parts = counts.numel(), channels = input.size(1);
  check_sizes(name, "the means of each part, a tensor", mean, {parts, channels});
  check_sizes(name, "the deviations of each part, a tensor", invstd, {parts, channels});
  at::Tensor all_mean = at::empty({channels}, mean.options());
  at::Tensor all_invstd = at::empty_like(all_mean);
  launch(name, input.device(),
         [out_mean = KernelTensor(all_mean), out_invstd = KernelTensor(all_invstd),
          rm = capture(running_mean), rv = capture(running_var),
          means = KernelTensor::input(mean), invstds = KernelTensor::input(invstd),
          n = KernelTensor::input(counts), parts, momentum, eps] {
           // In double: the squares of large means nearly cancel.
           const at::Tensor counts = n.on_device().to(at::kDouble).view({parts, 1});
           const at::Tensor means_of = means.on_device().to(at::kDouble);
           const at::Tensor variances =
               invstds.on_device().to(at::kDouble).pow(-2) - eps;
           const at::Tensor total = counts.sum();
           const at::Tensor mean = (means_of * counts).sum(0) / total;
           const at::Tensor squares =
               ((variances + (means_of - mean).square()) * counts).sum(0);
           out_mean.on_device().copy_(mean);
           out_invstd.on_device().copy_((squares / total + eps).rsqrt());
           if (rm.has_value()) {
             rm->on_device().mul_(1 - momentum).add_(mean, momentum);
           }
           if (rv.has_value()) {
             const at::Tensor variance = squares / (total - 1);  // (1)
             rv->on_device().mul_(1 - momentum).add_(variance, momentum);
           }
         });
  return {all_mean, all_invstd};
}
// LITERALINCLUDE END: GATHER_STATS

std::tuple<at::Tensor, at::Tensor> batch_norm_gather_stats(
    const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum, double eps,
    int64_t count) {
  TORCH_CHECK(mean.dim() == 2,
              "openreg: batch_norm_gather_stats: expected the means of each part, a "
              "tensor of 2 dimensions, but got ",
              mean.sizes());
  return openreg::batch_norm_gather_stats_with_counts(
      input, mean, invstd, running_mean, running_var, momentum, eps,
      at::full({mean.size(0)}, count, input.options().dtype(at::kLong)));
}

at::Tensor batch_norm_elemt(const at::Tensor& input,
                            const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias,
                            const at::Tensor& mean, const at::Tensor& invstd,
                            double /*eps*/) {
  check_input_and_channels("batch_norm_elemt", input, {weight, bias, mean, invstd});
  at::Tensor out =
      at::empty_like(input, input.options(), input.suggest_memory_format());
  launch("batch_norm_elemt", input.device(),
         [result = KernelTensor(out), in = KernelTensor::input(input),
          w = capture_input(weight), b = capture_input(bias),
          m = KernelTensor::input(mean), s = KernelTensor::input(invstd)] {
           const at::Tensor x = in.on_device();
           at::Tensor y =
               (x - by_channel(m.on_device(), x)) * by_channel(s.on_device(), x);
           if (w.has_value()) {
             y = y * by_channel(w->on_device(), x);
           }
           if (b.has_value()) {
             y = y + by_channel(b->on_device(), x);
           }
           result.on_device().copy_(y);
         });
  return out;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> batch_norm_backward_reduce(
    const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, const std::optional<at::Tensor>& weight, bool input_g,
    bool weight_g, bool bias_g) {
  constexpr auto name = "batch_norm_backward_reduce";
  check_input_and_channels(name, input, {mean, invstd, weight});
  check_same_device(name, input, grad_out);
  check_sizes(name, "a gradient", grad_out, input.sizes());
  const auto wanted = [&](bool wants, const at::Tensor& like) {
    return wants ? at::empty({input.size(1)}, like.options()) : at::Tensor();
  };
  const at::Tensor& parameter = is_given(weight) ? *weight : mean;
  at::Tensor sum_dy = wanted(input_g, mean), sum_dy_xmu = wanted(input_g, mean);
  at::Tensor grad_weight = wanted(weight_g, parameter);
  at::Tensor grad_bias = wanted(bias_g, parameter);
  launch(name, input.device(),
         [dy_sum = capture(sum_dy), dy_xmu_sum = capture(sum_dy_xmu),
          dw = capture(grad_weight), db = capture(grad_bias),
          go = KernelTensor::input(grad_out), in = KernelTensor::input(input),
          m = KernelTensor::input(mean), s = KernelTensor::input(invstd)] {
           const at::Tensor x = in.on_device();
           const at::Tensor dy = go.on_device().to(statistics_dtype(x));
           const auto dims = all_but_channels(x);
           const at::Tensor sum = dy.sum(dims);
           const at::Tensor sum_xmu =
               (dy * (x - by_channel(m.on_device(), x))).sum(dims);
           copy_if_wanted(dy_sum, sum);
           copy_if_wanted(dy_xmu_sum, sum_xmu);
           copy_if_wanted(dw, sum_xmu * s.on_device());
           copy_if_wanted(db, sum);
         });
  return {sum_dy, sum_dy_xmu, grad_weight, grad_bias};
}

at::Tensor batch_norm_backward_elemt(
    const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
    const at::Tensor& sum_dy, const at::Tensor& sum_dy_xmu, const at::Tensor& count) {
  constexpr auto name = "batch_norm_backward_elemt";
  check_input_and_channels(name, input, {mean, invstd, weight, sum_dy, sum_dy_xmu});
  check_same_device(name, input, grad_out, count);
  check_sizes(name, "a gradient", grad_out, input.sizes());
  at::Tensor grad_in =
      at::empty_like(input, input.options(), input.suggest_memory_format());
  launch(
      name, input.device(),
      [result = KernelTensor(grad_in), go = KernelTensor::input(grad_out),
       in = KernelTensor::input(input), m = KernelTensor::input(mean),
       s = KernelTensor::input(invstd), w = capture_input(weight),
       dy_sum = KernelTensor::input(sum_dy),
       dy_xmu_sum = KernelTensor::input(sum_dy_xmu), n = KernelTensor::input(count)] {
        const at::Tensor x = in.on_device();
        const at::Tensor total = n.on_device().sum().to(statistics_dtype(x));
        const at::Tensor invstd = by_channel(s.on_device(), x);
        const at::Tensor slope = by_channel(dy_xmu_sum.on_device(), x) / total;
        at::Tensor dx = go.on_device() - by_channel(dy_sum.on_device(), x) / total -
                        (x - by_channel(m.on_device(), x)) * invstd.square() * slope;
        dx = dx * invstd;
        if (w.has_value()) {
          dx = dx * by_channel(w->on_device(), x);
        }
        result.on_device().copy_(dx);
      });
  return grad_in;
}

}  // namespace openreg

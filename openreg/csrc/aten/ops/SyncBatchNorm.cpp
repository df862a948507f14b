// Batch normalization over several processes; see docs/modules/sync-batch-norm.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>

#include "csrc/aten/kernels/SyncBatchNorm.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {
namespace {

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

}  // namespace

std::tuple<at::Tensor, at::Tensor> batch_norm_stats(const at::Tensor& input,
                                                    double eps) {
  check_input("batch_norm_stats", input);
  const auto options = input.options().dtype(at::toOpMathType(input.scalar_type()));
  at::Tensor mean = at::empty({input.size(1)}, options);
  at::Tensor invstd = at::empty_like(mean);
  launch("batch_norm_stats", input.device(),
         [m = KernelTensorArg(mean), s = KernelTensorArg(invstd),
          in = KernelTensorArg::input(input),
          eps] { kernels::batch_norm_stats(in.alias(), eps, m.alias(), s.alias()); });
  return {mean, invstd};
}

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
  launch(
      name, input.device(),
      [out_mean = KernelTensorArg(all_mean), out_invstd = KernelTensorArg(all_invstd),
       rm = capture(running_mean), rv = capture(running_var),
       means = KernelTensorArg::input(mean), invstds = KernelTensorArg::input(invstd),
       n = KernelTensorArg::input(counts), momentum, eps] {
        kernels::batch_norm_gather_stats(means.alias(), invstds.alias(), n.alias(),
                                         momentum, eps, out_mean.alias(),
                                         out_invstd.alias(), alias(rm), alias(rv));
      });
  return {all_mean, all_invstd};
}

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
         [result = KernelTensorArg(out), in = KernelTensorArg::input(input),
          w = capture_input(weight), b = capture_input(bias),
          m = KernelTensorArg::input(mean), s = KernelTensorArg::input(invstd)] {
           kernels::batch_norm_elemt(in.alias(), alias(w), alias(b), m.alias(),
                                     s.alias(), result.alias());
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
          go = KernelTensorArg::input(grad_out), in = KernelTensorArg::input(input),
          m = KernelTensorArg::input(mean), s = KernelTensorArg::input(invstd)] {
           kernels::batch_norm_backward_reduce(go.alias(), in.alias(), m.alias(),
                                               s.alias(), alias(dy_sum),
                                               alias(dy_xmu_sum), alias(dw), alias(db));
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
  launch(name, input.device(),
         [result = KernelTensorArg(grad_in), go = KernelTensorArg::input(grad_out),
          in = KernelTensorArg::input(input), m = KernelTensorArg::input(mean),
          s = KernelTensorArg::input(invstd), w = capture_input(weight),
          dy_sum = KernelTensorArg::input(sum_dy),
          dy_xmu_sum = KernelTensorArg::input(sum_dy_xmu),
          n = KernelTensorArg::input(count)] {
           kernels::batch_norm_backward_elemt(
               go.alias(), in.alias(), m.alias(), s.alias(), alias(w), dy_sum.alias(),
               dy_xmu_sum.alias(), n.alias(), result.alias());
         });
  return grad_in;
}

}  // namespace openreg

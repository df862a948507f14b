// Meta functions of batch normalization over several processes; see
// docs/modules/sync-batch-norm.md.
#include "csrc/aten/meta/SyncBatchNorm.h"

#include <ATen/OpMathType.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

void check_input(const char* name, const at::Tensor& input) {
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype), "openreg: ", name,
                              " is not implemented for '", dtype, "'");
  TORCH_CHECK(input.dim() >= 2, "openreg: ", name,
              ": expected an input of at least 2 dimensions, but got ", input.sizes());
}

void check_sizes(const char* name, const char* what, const OptionalTensor& tensor,
                 at::IntArrayRef sizes) {
  TORCH_CHECK(!is_given(tensor) || tensor->sizes() == sizes, "openreg: ", name,
              ": expected ", what, " of size ", sizes, ", but got ",
              or_undefined(tensor).sizes());
}

void check_input_and_channels(const char* name, const at::Tensor& input,
                              std::initializer_list<OptionalTensor> all) {
  check_input(name, input);
  for (const OptionalTensor& tensor : all) {
    check_sizes(name, "one number for each channel, a tensor", tensor, input.size(1));
  }
}

}  // namespace

void BatchNormStats::meta(const at::Tensor& input, double) {
  check_input("batch_norm_stats", input);
  const auto options = input.options().dtype(at::toOpMathType(input.scalar_type()));
  output(0, {input.size(1)}, options);
  output(1, {input.size(1)}, options);
}

void BatchNormGatherStats::gather(const at::Tensor& input, const at::Tensor& mean,
                                  const at::Tensor& invstd,
                                  const OptionalTensor& running_mean,
                                  const OptionalTensor& running_var, int64_t parts) {
  constexpr auto name = "batch_norm_gather_stats_with_counts";
  check_input_and_channels(name, input, {running_mean, running_var});
  const int64_t channels = input.size(1);
  check_sizes(name, "the means of each part, a tensor", mean, {parts, channels});
  check_sizes(name, "the deviations of each part, a tensor", invstd, {parts, channels});
  output(0, {channels}, mean.options());
  output(1, {channels}, mean.options());
}

void BatchNormGatherStats::meta(const at::Tensor& input, const at::Tensor& mean,
                                const at::Tensor& invstd,
                                const OptionalTensor& running_mean,
                                const OptionalTensor& running_var, double, double,
                                const at::Tensor& counts) {
  gather(input, mean, invstd, running_mean, running_var, counts.numel());
}

void BatchNormGatherStats::meta(const at::Tensor& input, const at::Tensor& mean,
                                const at::Tensor& invstd,
                                const OptionalTensor& running_mean,
                                const OptionalTensor& running_var, double, double,
                                int64_t) {
  TORCH_CHECK(mean.dim() == 2,
              "openreg: batch_norm_gather_stats: expected the means of each part, a "
              "tensor of 2 dimensions, but got ",
              mean.sizes());
  gather(input, mean, invstd, running_mean, running_var, mean.size(0));
}

void BatchNormElemt::meta(const at::Tensor& input, const OptionalTensor& weight,
                          const OptionalTensor& bias, const at::Tensor& mean,
                          const at::Tensor& invstd, double) {
  check_input_and_channels("batch_norm_elemt", input, {weight, bias, mean, invstd});
  output(0, input.sizes(), input.options(), input.suggest_memory_format());
}

void BatchNormBackwardReduce::meta(const at::Tensor& grad_out, const at::Tensor& input,
                                   const at::Tensor& mean, const at::Tensor& invstd,
                                   const OptionalTensor& weight, bool input_g,
                                   bool weight_g, bool bias_g) {
  constexpr auto name = "batch_norm_backward_reduce";
  check_input_and_channels(name, input, {mean, invstd, weight});
  check_sizes(name, "a gradient", grad_out, input.sizes());
  const at::Tensor& parameter = is_given(weight) ? *weight : mean;
  const std::array requested{input_g, input_g, weight_g, bias_g};
  for (const int64_t i : c10::irange(4)) {
    if (requested[i]) {
      output(i, {input.size(1)}, (i < 2 ? mean : parameter).options());
    }
  }
}

void BatchNormBackwardElemt::meta(const at::Tensor& grad_out, const at::Tensor& input,
                                  const at::Tensor& mean, const at::Tensor& invstd,
                                  const OptionalTensor& weight,
                                  const at::Tensor& sum_dy,
                                  const at::Tensor& sum_dy_xmu, const at::Tensor&) {
  constexpr auto name = "batch_norm_backward_elemt";
  check_input_and_channels(name, input, {mean, invstd, weight, sum_dy, sum_dy_xmu});
  check_sizes(name, "a gradient", grad_out, input.sizes());
  output(0, input.sizes(), input.options(), input.suggest_memory_format());
}

}  // namespace openreg

// Convolution on the CPU, for a device without a kernel for it; see
// docs/operators/composite.md.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/library.h>

#include <array>
#include <tuple>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/Fallback.h"

namespace openreg {
namespace {

using at::IntArrayRef;
using at::Tensor;

// Torch's own kernels for these two raise, so a call of them never falls back.
Tensor convolution_on_cpu(const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, IntArrayRef stride,
                          IntArrayRef padding, IntArrayRef dilation, bool transposed,
                          IntArrayRef output_padding, int64_t groups) {
  check_same_device("convolution", input, weight, bias);
  count_fallback("aten::convolution_overrideable");
  return at::convolution(input.cpu(), weight.cpu(),
                         is_given(bias) ? bias->cpu() : Tensor(), stride, padding,
                         dilation, transposed, output_padding, groups)
      .to(input.device());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward_on_cpu(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups, std::array<bool, 3> mask) {
  check_same_device("convolution_backward", grad_output, input, weight);
  count_fallback("aten::convolution_backward_overrideable");
  const int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  const auto [of_input, of_weight, of_bias] = at::convolution_backward(
      grad_output.cpu(), input.cpu(), weight.cpu(), IntArrayRef(channels), stride,
      padding, dilation, transposed, output_padding, groups, mask);
  const auto back = [&](const Tensor& grad) {
    return grad.defined() ? grad.to(input.device()) : grad;
  };
  return {back(of_input), back(of_weight), back(of_bias)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", convolution_on_cpu);
  m.impl("convolution_backward_overrideable", convolution_backward_on_cpu);
}

}  // namespace openreg

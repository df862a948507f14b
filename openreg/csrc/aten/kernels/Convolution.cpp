// Kernels of convolutions, forward and backward; see docs/operators/composite.md.
#include "csrc/aten/kernels/Convolution.h"

#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>

#include "csrc/aten/kernels/WantedOutputs.h"

namespace openreg::kernels {

void convolution(const at::Tensor& input, const at::Tensor& weight,
                 const at::Tensor& bias, const ConvolutionGeometry& geometry,
                 const at::Tensor& output) {
  const ConvolutionGeometry& g = geometry;
  output.copy_(at::convolution(input, weight, bias, g.stride, g.padding, g.dilation,
                               g.transposed, g.output_padding, g.groups));
}

void convolution_backward(const at::Tensor& grad_output, const at::Tensor& input,
                          const at::Tensor& weight, int64_t channels,
                          const ConvolutionGeometry& geometry,
                          const std::array<at::Tensor, 3>& grads) {
  const ConvolutionGeometry& g = geometry;
  copy_wanted(grads, at::convolution_backward(
                         grad_output, input, weight, at::IntArrayRef(channels),
                         g.stride, g.padding, g.dilation, g.transposed,
                         g.output_padding, g.groups, mask_of(grads)));
}

}  // namespace openreg::kernels

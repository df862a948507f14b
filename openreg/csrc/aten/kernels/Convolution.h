// Kernels of convolutions, forward and backward; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace openreg::kernels {

// What a launch captures besides tensors. An IntArrayRef only points into the caller's
// memory, which is gone when the kernel runs.
struct ConvolutionGeometry {
  std::vector<int64_t> stride, padding, dilation;
  bool transposed;
  std::vector<int64_t> output_padding;
  int64_t groups;
};

// Writes the convolution of `input` with `weight` to `output`, and adds `bias`, one
// number for each channel of the output. The bias may be undefined.
void convolution(const at::Tensor& input, const at::Tensor& weight,
                 const at::Tensor& bias, const ConvolutionGeometry& geometry,
                 const at::Tensor& output);

// Writes the gradients of input, weight and bias that are defined in `grads`.
// `channels` is the number of channels of the output.
void convolution_backward(const at::Tensor& grad_output, const at::Tensor& input,
                          const at::Tensor& weight, int64_t channels,
                          const ConvolutionGeometry& geometry,
                          const std::array<at::Tensor, 3>& grads);

}  // namespace openreg::kernels

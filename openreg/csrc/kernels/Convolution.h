// Kernels of convolutions, forward and backward; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

namespace openreg::kernels {

// Writes the convolution of `input` with `weight` to `output`, and adds `bias`, one
// number for each channel of the output.
void convolution(const at::Tensor& input, const at::Tensor& weight,
                 const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                 at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                 at::IntArrayRef output_padding, int64_t groups, at::Tensor& output);

// Writes the gradients of input, weight and bias that are defined in `grads`.
// `channels` is the number of channels of the output.
void convolution_backward(const at::Tensor& grad_output, const at::Tensor& input,
                          const at::Tensor& weight, int64_t channels,
                          at::IntArrayRef stride, at::IntArrayRef padding,
                          at::IntArrayRef dilation, bool transposed,
                          at::IntArrayRef output_padding, int64_t groups,
                          std::array<at::Tensor, 3>& grads);

}  // namespace openreg::kernels

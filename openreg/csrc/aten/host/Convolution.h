// The host half of convolutions; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <tuple>

namespace openreg {

// All of torch's convolutions end here: of 1 to 3 dimensions, transposed or not. Those
// of one dimension arrive as images of height 1.
at::Tensor convolution_overrideable(const at::Tensor& input, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias,
                                    at::IntArrayRef stride, at::IntArrayRef padding,
                                    at::IntArrayRef dilation, bool transposed,
                                    at::IntArrayRef output_padding, int64_t groups);

// The gradients of input, weight and bias; undefined where `output_mask` is false.
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_overrideable(
    const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight,
    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
    bool transposed, at::IntArrayRef output_padding, int64_t groups,
    std::array<bool, 3> output_mask);

}  // namespace openreg

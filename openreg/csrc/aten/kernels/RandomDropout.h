// Dropout and the random leaky ReLU; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg::kernels {

// All tensors of a kernel have the same sizes.

// Sets elements to zero with probability `p`, and divides the others by 1 - p. `mask`,
// of bools, says which were kept. An element takes one random word.
void dropout(const at::Tensor& input, PhiloxState random, double p,
             const at::Tensor& out, const at::Tensor& mask);

// Multiplies `grad` by `scale` where `mask` is true; elsewhere writes zeros.
void dropout_backward(const at::Tensor& grad, const at::Tensor& mask, double scale,
                      const at::Tensor& out);

// Multiplies negative elements by a slope. In training it is a random one of
// [lower, upper), which `noise` remembers, from two random words for a float64, else
// one. In evaluation it is the mean of the bounds, and `noise` is left alone.
void rrelu(const at::Tensor& self, PhiloxState random, double lower, double upper,
           bool training, const at::Tensor& noise, const at::Tensor& out);

}  // namespace openreg::kernels

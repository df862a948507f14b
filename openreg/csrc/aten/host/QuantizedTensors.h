// The host half of tensors of a quantized dtype; see
// docs/operators/quantized-and-nested.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

at::Tensor quantize_per_tensor(const at::Tensor& self, double scale, int64_t zero_point,
                               at::ScalarType dtype);
at::Tensor quantize_per_tensor_params(const at::Tensor& self, const at::Tensor& scale,
                                      const at::Tensor& zero_point,
                                      at::ScalarType dtype);
at::Tensor quantize_per_channel(const at::Tensor& self, const at::Tensor& scales,
                                const at::Tensor& zero_points, int64_t axis,
                                at::ScalarType dtype);

// Of a quantized tensor.
at::Tensor dequantize(const at::Tensor& self);
at::Tensor int_repr(const at::Tensor& self);

}  // namespace openreg

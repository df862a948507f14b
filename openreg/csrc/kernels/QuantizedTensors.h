// Kernels of tensors of a quantized dtype; see docs/operators/quantized-and-nested.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// `codes` has the dtype qint8, quint8 or qint32. Scales are of float64, and zero points
// of int64, one for each channel.
void quantize(const at::Tensor& self, double scale, int64_t zero_point,
              at::Tensor& codes);
void quantize_channels(const at::Tensor& self, const at::Tensor& scales,
                       const at::Tensor& zero_points, int64_t axis, at::Tensor& codes);
void dequantize(const at::Tensor& codes, double scale, int64_t zero_point,
                at::Tensor& out);
void dequantize_channels(const at::Tensor& codes, const at::Tensor& scales,
                         const at::Tensor& zero_points, int64_t axis, at::Tensor& out);

// Copies the codes into a tensor of integers.
void int_repr(const at::Tensor& codes, at::Tensor& out);

}  // namespace openreg::kernels

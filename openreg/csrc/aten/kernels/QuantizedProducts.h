// Kernels of products with weights of 8 bits; see docs/modules/quantization.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Writes self [M, K] times mat2 [K, N] to `out`, in int32.
void int_mm(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& out);

// Writes self [M, K] times the transpose of weight [N, K], int8, to `out` [M, N]; each
// column times its number of `scales` [N].
void weight_int8pack_mm(const at::Tensor& self, const at::Tensor& weight,
                        const at::Tensor& scales, const at::Tensor& out);

}  // namespace openreg::kernels

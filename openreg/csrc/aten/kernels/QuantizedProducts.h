// Kernels of products with weights of 8 and 4 bits; see docs/modules/quantization.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Writes self [M, K] times mat2 [K, N] to `out`, in int32.
void int_mm(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& out);

// Writes self [M, K] times the transpose of weight [N, K], int8, to `out` [M, N]; each
// column times its number of `scales` [N].
void weight_int8pack_mm(const at::Tensor& self, const at::Tensor& weight,
                        const at::Tensor& scales, const at::Tensor& out);

// Writes self [M, K] times the transpose of a weight [N, K] of 4 bits to `out` [M, N].
// Each byte of `packed` holds two neighbors of a row, the first in its upper half; a
// code c stands for (c - 8) * scale + zero, with one pair of numbers of
// `scales_and_zeros` [K / group_size, N, 2] for each `group_size` neighbors.
void weight_int4pack_mm(const at::Tensor& self, const at::Tensor& packed,
                        int64_t group_size, const at::Tensor& scales_and_zeros,
                        const at::Tensor& out);

// Writes self [M, K] times mat2 [K, N], of float8, times both scales and plus the bias,
// which may be undefined, to `out`. A scale is one number, or [M, 1] and [1, N].
void scaled_mm(const at::Tensor& self, const at::Tensor& mat2,
               const at::Tensor& scale_a, const at::Tensor& scale_b,
               const at::Tensor& bias, const at::Tensor& out);

}  // namespace openreg::kernels

// Kernels behind the stubs of sparse tensors; see docs/operators/sparse-training.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg::kernels {

// Writes each column of `indices` [dimensions, columns] as one number to `out`
// [columns]: the position of that element in a contiguous tensor of sizes `size`.
void flatten_indices(const at::Tensor& indices, at::IntArrayRef size,
                     const at::Tensor& out);

// Returns a COO tensor of `dtype` with the indices of `y`. Each value is the sum of the
// values that `x` has there, or zero. `x_hash` is what flatten_indices() gives for `x`,
// if it is known.
at::Tensor sparse_mask(const at::Tensor& x, const at::Tensor& y,
                       const std::optional<at::Tensor>& x_hash, at::ScalarType dtype);

// Returns a COO tensor of `dtype` with the indices and the values of `y`; values where
// `x` has no element are zero. With `accumulate_matches`, each value is multiplied by
// the number of elements that `x` has there.
at::Tensor sparse_mask_projection(const at::Tensor& x, const at::Tensor& y,
                                  const std::optional<at::Tensor>& x_hash,
                                  bool accumulate_matches, at::ScalarType dtype);

}  // namespace openreg::kernels

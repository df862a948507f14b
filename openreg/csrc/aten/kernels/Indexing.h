// Kernels that write elements by index or mask, or count them; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg::kernels {

// Writes `value`, a tensor of no dimension, to the elements of `out` where the boolean
// `mask` is true. The mask broadcasts to `out`.
void masked_fill(at::Tensor out, const at::Tensor& mask, const at::Tensor& value);

// The same for a number.
void masked_fill(at::Tensor out, const at::Tensor& mask, const at::Scalar& value);

// Writes or adds `values` to the elements of `out` that `indices` select. The values
// broadcast to the selection; `unsafe` skips the check of the indices.
void index_put(at::Tensor out, const c10::List<std::optional<at::Tensor>>& indices,
               const at::Tensor& values, bool accumulate, bool unsafe);

// Counts the elements of `self` that are not zero, along `dim`; all if it is empty.
// Returns int64.
at::Tensor count_nonzero(const at::Tensor& self, at::IntArrayRef dim);

}  // namespace openreg::kernels

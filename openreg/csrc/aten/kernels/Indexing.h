// A kernel that counts elements; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Counts the elements of `self` that are not zero, along `dim`; all if it is empty.
// Returns int64.
at::Tensor count_nonzero(const at::Tensor& self, at::IntArrayRef dim);

}  // namespace openreg::kernels

// Counts values; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Counts the elements of `self` in `bins` bins of one width from `min` to `max`, or
// from the least to the largest element if these are equal. `out` has `bins` elements.
at::Tensor& histc_out(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                      const at::Scalar& max, at::Tensor& out);

}  // namespace openreg::kernels

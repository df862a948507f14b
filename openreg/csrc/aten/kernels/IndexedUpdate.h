// Kernels that update elements which an index or a mask selects; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Writes `value` to the slices of `out` along dimension `dim` that `index` selects.
at::Tensor& index_fill_out(int64_t dim, const at::Tensor& index,
                           const at::Scalar& value, at::Tensor& out);

// Writes the elements of `source`, in order, to the elements of `out` where the boolean
// `mask` is true. The mask broadcasts to `out`.
at::Tensor& masked_scatter_out(const at::Tensor& mask, const at::Tensor& source,
                               at::Tensor& out);

// Writes each index i of the vector `repeats` to `out`, repeats[i] times in succession.
// If the caller gave `out` another size than the sum of `repeats`, the kernel writes as
// many elements as fit and sets the rest to zero.
at::Tensor& repeat_interleave_out(const at::Tensor& repeats, at::Tensor& out);

}  // namespace openreg::kernels

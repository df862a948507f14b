// Kernels that read or write elements by index or mask; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>

namespace openreg::kernels {

using IndexList =
    c10::List<std::optional<at::Tensor>>;  // undefined: the whole dimension

// Each launches a kernel. Where elements of what it writes share memory, it computes
// all the same.

// Writes the elements of `self` that `indices` select to `out`. The indices are
// numbers.
void index(const at::Tensor& self, const IndexList& indices, const at::Tensor& out);

// Writes or adds `values` to the elements of `out` that `indices` select. The values
// broadcast to the selection; `unsafe` skips the check of the indices.
void index_put(const at::Tensor& out, const IndexList& indices,
               const at::Tensor& values, bool accumulate, bool unsafe);

// Writes `value`, a tensor of no dimension or a number, to the elements of `out` where
// the boolean `mask` is true. The mask broadcasts to `out`.
void masked_fill(const at::Tensor& out, const at::Tensor& mask,
                 const at::Tensor& value);
void masked_fill(const at::Tensor& out, const at::Tensor& mask,
                 const at::Scalar& value);

// Writes `value` to the slices of `out` along dimension `dim` that `index` selects.
void index_fill(const at::Tensor& out, int64_t dim, const at::Tensor& index,
                const at::Scalar& value);

// Writes the elements of `source`, in order, to the elements of `out` where the boolean
// `mask` is true. The mask broadcasts to `out`.
void masked_scatter(const at::Tensor& out, const at::Tensor& mask,
                    const at::Tensor& source);

}  // namespace openreg::kernels

// Operators that read or write elements by index or mask; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>

namespace openreg {

using IndexList = c10::List<std::optional<at::Tensor>>;

at::Tensor index(const at::Tensor& self, const IndexList& indices);
at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out);
at::Tensor& index_put_impl_(at::Tensor& self, const IndexList& indices,
                            const at::Tensor& values, bool accumulate, bool unsafe);
at::Tensor& masked_fill_scalar_(at::Tensor& self, const at::Tensor& mask,
                                const at::Scalar& value);
at::Tensor& masked_fill_tensor_(at::Tensor& self, const at::Tensor& mask,
                                const at::Tensor& value);
at::Tensor& index_fill_scalar_(at::Tensor& self, int64_t dim, const at::Tensor& index,
                               const at::Scalar& value);
at::Tensor& index_fill_tensor_(at::Tensor& self, int64_t dim, const at::Tensor& index,
                               const at::Tensor& value);
at::Tensor& masked_scatter_(at::Tensor& self, const at::Tensor& mask,
                            const at::Tensor& source);

}  // namespace openreg

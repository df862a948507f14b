// Operators with indices that may lie on the CPU; see docs/operators/structured.md.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

using IndexList = c10::List<std::optional<at::Tensor>>;

at::Tensor index(const at::Tensor& self, const IndexList& indices);
at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out);

}  // namespace openreg

// Kernels of scans with two results, and of sums without NaN; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <tuple>

namespace openreg::kernels {

// Writes the largest element so far along `dim` to `values`, and where it is to
// `indices`. Both outputs have the sizes of `self`.
std::tuple<at::Tensor&, at::Tensor&> cummax_out(const at::Tensor& self, int64_t dim,
                                                at::Tensor& values,
                                                at::Tensor& indices);

// The same for the smallest element.
std::tuple<at::Tensor&, at::Tensor&> cummin_out(const at::Tensor& self, int64_t dim,
                                                at::Tensor& values,
                                                at::Tensor& indices);

// Writes the sums of `self` over the dimensions `dim` to `out`, with NaN as zero.
at::Tensor& nansum_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                       bool keepdim, std::optional<at::ScalarType> dtype,
                       at::Tensor& out);

}  // namespace openreg::kernels

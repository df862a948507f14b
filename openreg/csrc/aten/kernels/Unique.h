// Kernels that find distinct values; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace openreg::kernels {

// What the kernels below write: `number`, how many distinct values there are, an int64
// tensor of no dimension; `values`; `places`, for each element of the input the index
// of its value; `times`, how often each value occurs. `values` and `times` have room
// for as many as the input has, and only their first `number` are written. `places` and
// `times` may be without elements, and are then left out.
using UniqueOutputs = std::tuple<at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&>;

// The distinct elements of `self`. All four kernels have the same parameters: this one
// ignores `dim`.
UniqueOutputs unique2_out(const at::Tensor& self, int64_t dim, bool sorted,
                          bool inverse, bool counts, at::Tensor& number,
                          at::Tensor& values, at::Tensor& places, at::Tensor& times);

// The elements of `self`, with one for each run of equal ones. Ignores `dim` and
// `sorted`.
UniqueOutputs unique_consecutive_out(const at::Tensor& self, int64_t dim, bool sorted,
                                     bool inverse, bool counts, at::Tensor& number,
                                     at::Tensor& values, at::Tensor& places,
                                     at::Tensor& times);

// The distinct slices of `self` along `dim`, which is the first dimension of `values`.
UniqueOutputs unique_dim_out(const at::Tensor& self, int64_t dim, bool sorted,
                             bool inverse, bool counts, at::Tensor& number,
                             at::Tensor& values, at::Tensor& places, at::Tensor& times);

// The slices of `self` along `dim`, with one for each run of equal ones. `dim` is the
// first dimension of `values`. Ignores `sorted`.
UniqueOutputs unique_dim_consecutive_out(const at::Tensor& self, int64_t dim,
                                         bool sorted, bool inverse, bool counts,
                                         at::Tensor& number, at::Tensor& values,
                                         at::Tensor& places, at::Tensor& times);

}  // namespace openreg::kernels

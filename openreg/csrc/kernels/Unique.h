// Kernels that find distinct values; see docs/operators/meta-functions.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// What the kernels below write: `number`, how many distinct values there are, an int64
// tensor of no dimension; `values`; `places`, for each element of the input the index
// of its value; `times`, how often each value occurs. `values` and `times` have room
// for as many as the input has, and only their first `number` are written. `places` and
// `times` may be without elements, and are then left out.
using LaunchUnique = void(const at::Tensor& self, int64_t dim, bool sorted,
                          bool inverse, bool counts, const at::Tensor& number,
                          const at::Tensor& values, const at::Tensor& places,
                          const at::Tensor& times);

// The distinct elements of `self`. Ignores `dim`.
LaunchUnique unique2;

// The elements of `self`, with one for each run of equal ones. Ignores `dim` and
// `sorted`.
LaunchUnique unique_consecutive;

// The distinct slices of `self` along `dim`, which is the first dimension of `values`.
LaunchUnique unique_dim;

// The slices of `self` along `dim`, with one for each run of equal ones. `dim` is the
// first dimension of `values`. Ignores `sorted`.
LaunchUnique unique_dim_consecutive;

}  // namespace openreg::kernels

// Launches a reduction; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>

#include "csrc/kernels/ReduceLayout.h"

namespace ocl::kernels::reduce {

// The dimensions of `self` that a caller lists; all of them if the list is empty.
Dims dims_of(const at::Tensor& self, at::OptionalIntArrayRef dims);
Dims dims_of(const at::Tensor& self, std::optional<int64_t> dim);
Dims dims_of(const at::Tensor& self, int64_t dim);

// Enqueues `operation`, such as "SUM", of which ReduceSource.h has a list, in the dtype
// `compute`. The outputs may keep the dimensions or not. Of operations with two
// results, either may be undefined. False if a dtype or the layout has no kernel.
bool reduce(const char* operation, const at::Tensor& self, const Dims& dims,
            at::ScalarType compute, const at::Tensor& out,
            const at::Tensor& second = {}, const at::Scalar& number = 0);

}  // namespace ocl::kernels::reduce

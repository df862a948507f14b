// Elements that a mask selects, in their order; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace ocl::opencl {

// Each enqueues kernels, or nothing and returns false: then the operator falls back.

// Writes the elements of `source`, in order, to those of `out` where `mask`, which
// broadcasts to `out`, is true. Too few elements are a fault: see IndexingFault.h.
bool write_where(const at::Tensor& out, const at::Tensor& mask,
                 const at::Tensor& source);

// Writes the index of each element of `self` that is not zero to a row of `out`, a
// tensor of int64 with any strides.
bool write_places(const at::Tensor& self, const at::Tensor& out);

}  // namespace ocl::opencl

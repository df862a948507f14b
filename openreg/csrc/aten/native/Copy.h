// Copies between host and device, and inside a device; see docs/operators/minimal.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

// Copies `self` to `dst`, at least one of them on an openreg device, broadcasting and
// converting the dtype. Waits unless `non_blocking` and the memory allows it.
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking);
// The same, after giving `dst` the sizes of `self`.
at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst);
// The value of a tensor of one element; waits for it.
at::Scalar local_scalar_dense(const at::Tensor& self);
// Tells the allocator that work on `stream` uses the memory of `self`.
void record_stream(at::Tensor& self, at::Stream stream);

}  // namespace openreg

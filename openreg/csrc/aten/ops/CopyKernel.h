// The hook with which csrc/kernels can provide a copy kernel; see
// docs/operators/minimal-copies.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

// Copies between two tensors of equal sizes on one device: converts dtypes, and honors
// strides and pending conjugation and negation. Enqueues, and returns. While it is
// null, because no file of csrc/kernels sets it, the host converts.
inline void (*copy_kernel)(const at::Tensor& src, const at::Tensor& dst) = nullptr;

}  // namespace openreg

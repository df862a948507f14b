// What the kernels' room may add to copies; see docs/operators/minimal-copies.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

// Copies between two tensors of equal sizes on one device: converts dtypes, and honors
// strides and pending conjugation and negation. Enqueues, and returns. Null until a
// file of csrc/kernels sets it: then the host converts.
inline void (*copy_kernel)(const at::Tensor& src, const at::Tensor& dst) = nullptr;

}  // namespace openreg

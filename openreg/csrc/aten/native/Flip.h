// Operators that change the order of elements; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

at::Tensor flip(const at::Tensor& self, at::IntArrayRef dims);
at::Tensor channel_shuffle(const at::Tensor& self, int64_t groups);

}  // namespace openreg

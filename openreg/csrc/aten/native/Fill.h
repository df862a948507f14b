// fill_ and zero_: the shortest native operators; see docs/operators/registration.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

at::Tensor& fill_scalar_(at::Tensor& self, const at::Scalar& value);
at::Tensor& fill_tensor_(at::Tensor& self, const at::Tensor& value);
at::Tensor& zero_(at::Tensor& self);

}  // namespace openreg

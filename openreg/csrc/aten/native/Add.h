// add: a structured operator; see docs/operators/registration.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

at::Tensor add(const at::Tensor& self, const at::Tensor& other,
               const at::Scalar& alpha);
at::Tensor& add_(at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha);
at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other,
                    const at::Scalar& alpha, at::Tensor& out);

}  // namespace openreg

// Kernels that work element by element, of the operators that the guide explains first;
// see docs/operators/launch.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace openreg::kernels {

void fill(at::Tensor out, const at::Scalar& value);

// Converts dtypes, and resolves pending conjugation and negation.
void copy(const at::Tensor& self, at::Tensor out);

// self + alpha * other, both read as `dtype`, the dtype of the computation.
void add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha,
         at::ScalarType dtype, at::Tensor out);

}  // namespace openreg::kernels

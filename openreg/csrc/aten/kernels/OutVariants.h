// Functions with out= that ATen's CPU library lacks; see docs/operators/stub.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace openreg::kernels {

// The absolute value, also of bool, for which CUDA has a kernel and the CPU has none.
at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out);

// The derivatives of hardswish and mish. On the CPU these have no form with out=.
at::Tensor& hardswish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                                   at::Tensor& out);
at::Tensor& mish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                              at::Tensor& out);

// Multiplies negative elements of `self` by `weight`. On the CPU this function has no
// form with out=.
at::Tensor& prelu_out(const at::Tensor& self, const at::Tensor& weight,
                      at::Tensor& out);

// beta * self + alpha * column * row. ATen's iterator has the two vectors as a column
// and a row.
at::Tensor& addr_out(const at::Tensor& self, const at::Tensor& column,
                     const at::Tensor& row, const at::Scalar& beta,
                     const at::Scalar& alpha, at::Tensor& out);

// Writes `source` to the elements of `out` that `index` counts in the flattened tensor;
// with `add`, adds it to them.
at::Tensor& put_out(const at::Tensor& index, const at::Tensor& source, bool add,
                    at::Tensor& out);

// The derivative of adaptive_max_pool3d. ATen's kernel requires contiguous indices.
at::Tensor& adaptive_max_pool3d_backward_out(const at::Tensor& grad,
                                             const at::Tensor& self,
                                             const at::Tensor& indices,
                                             at::Tensor& out);

}  // namespace openreg::kernels

// Products and sums with a sparse operand; see docs/operators/sparse.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace openreg::kernels {

// Each launches a kernel.

// Writes beta * self + alpha * mat1 @ mat2 to `out`, which may be `self`. One of the
// two factors is sparse, the other tensors are dense.
void sparse_addmm(const at::Tensor& self, const at::Tensor& mat1,
                  const at::Tensor& mat2, const at::Scalar& beta,
                  const at::Scalar& alpha, const at::Tensor& out);

// Writes self + alpha * other to `out`, which may be `self`. `other` is a COO tensor of
// the same size, the other tensors are dense.
void sparse_add(const at::Tensor& self, const at::Tensor& other,
                const at::Scalar& alpha, const at::Tensor& out);

// Writes beta * out + alpha * mat1 @ mat2 to the elements that the CSR matrix `out`
// has. The factors are dense.
void sparse_sampled_addmm(const at::Tensor& mat1, const at::Tensor& mat2,
                          const at::Scalar& beta, const at::Scalar& alpha,
                          const at::Tensor& out);

// Write self + alpha * other and self * other to `out`, all sparse and of one layout.
// The host waits for the number of elements.
at::Tensor& sum_of_sparse(const at::Tensor& self, const at::Tensor& other,
                          const at::Scalar& alpha, at::Tensor& out);
at::Tensor& product_of_sparse(const at::Tensor& self, const at::Tensor& other,
                              at::Tensor& out);

}  // namespace openreg::kernels

// Products and sums with a sparse operand; see docs/operators/sparse.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace openreg {

at::Tensor coo_addmm(const at::Tensor& self, const at::Tensor& mat1,
                     const at::Tensor& mat2, const at::Scalar& beta,
                     const at::Scalar& alpha);
at::Tensor& coo_addmm_(at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                       const at::Scalar& beta, const at::Scalar& alpha);
at::Tensor& coo_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha, at::Tensor& out);
at::Tensor& coo_add_out(const at::Tensor& self, const at::Tensor& other,
                        const at::Scalar& alpha, at::Tensor& out);
at::Tensor& coo_mul_out(const at::Tensor& self, const at::Tensor& other,
                        at::Tensor& out);

at::Tensor& compressed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                                 const at::Tensor& mat2, const at::Scalar& beta,
                                 const at::Scalar& alpha, at::Tensor& out);
at::Tensor& compressed_add_out(const at::Tensor& self, const at::Tensor& other,
                               const at::Scalar& alpha, at::Tensor& out);
at::Tensor csr_sampled_addmm(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha);

}  // namespace openreg

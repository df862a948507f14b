// Products and sums with a sparse operand; see docs/operators/sparse.md.
#include "csrc/aten/kernels/SparseProducts.h"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/sparse_sampled_addmm.h>

namespace openreg::kernels {

void sparse_addmm(const at::Tensor& self, const at::Tensor& mat1,
                  const at::Tensor& mat2, const at::Scalar& beta,
                  const at::Scalar& alpha, at::Tensor& out) {
  at::addmm_outf(self, mat1, mat2, beta, alpha, out);
}

void sparse_add(const at::Tensor& self, const at::Tensor& other,
                const at::Scalar& alpha, at::Tensor& out) {
  at::add_outf(self, other, alpha, out);
}

void sparse_sampled_addmm(const at::Tensor& mat1, const at::Tensor& mat2,
                          const at::Scalar& beta, const at::Scalar& alpha,
                          at::Tensor& out) {
  at::sparse_sampled_addmm_outf(out, mat1, mat2, beta, alpha, out);
}

}  // namespace openreg::kernels

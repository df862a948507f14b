// Products and sums with a sparse operand; see docs/operators/sparse.md.
#include "csrc/kernels/SparseProducts.h"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/sparse_sampled_addmm.h>

#include "csrc/kernels/cpu/SparseOperator.h"

namespace openreg::kernels {

using at::Scalar;
using at::Tensor;

// LITERALINCLUDE START: SPARSE_ADDMM_KERNEL
void sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                  const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  cpu::launch(
      "addmm",
      [](const Tensor& t, const Tensor& a, const Tensor& b, const Scalar& of_t,
         const Scalar& of_product,
         Tensor& result) { at::addmm_outf(t, a, b, of_t, of_product, result); },
      self, mat1, mat2, beta, alpha, out);
}
// LITERALINCLUDE END: SPARSE_ADDMM_KERNEL

void sparse_add(const Tensor& self, const Tensor& other, const Scalar& alpha,
                const Tensor& out) {
  cpu::launch(
      "add",
      [](const Tensor& a, const Tensor& b, const Scalar& factor, Tensor& sum) {
        at::add_outf(a, b, factor, sum);
      },
      self, other, alpha, out);
}

void sparse_sampled_addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                          const Scalar& alpha, const Tensor& out) {
  cpu::launch(
      "sparse_sampled_addmm",
      [](const Tensor& a, const Tensor& b, const Scalar& of_out,
         const Scalar& of_product, Tensor& result) {
        at::sparse_sampled_addmm_outf(result, a, b, of_out, of_product, result);
      },
      mat1, mat2, beta, alpha, out);
}

Tensor& sum_of_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha,
                      Tensor& out) {
  return cpu::SparseOperator<at::_ops::add_out>::call(self, other, alpha, out);
}

Tensor& product_of_sparse(const Tensor& self, const Tensor& other, Tensor& out) {
  return cpu::SparseOperator<at::_ops::mul_out>::call(self, other, out);
}

}  // namespace openreg::kernels

// Products and sums with a sparse operand; see docs/operators/sparse.md.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/sparse_sampled_addmm_ops.h>
#include <c10/core/Scalar.h>
#include <torch/library.h>

#include "csrc/aten/common/SparseMembers.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/aten/ops/Layouts.h"
#include "csrc/kernels/SparseProducts.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using c10::DispatchKey;

template <class Op, DispatchKey key>
using LayoutFallback = at::native::call_fallback_fn<&fall_back<key>, Op>;

bool same_device_and_dtype(const at::Tensor& out,
                           std::initializer_list<const at::Tensor*> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const at::Tensor* input) {
    return input->device() == out.device() && input->dtype() == out.dtype();
  });
}

// Whether a kernel can convert `number` to `dtype` without a loss. Where it cannot, the
// CPU decides whether that is an error.
bool keeps(const at::Scalar& number, at::ScalarType dtype) {
  if ((number.isFloatingPoint() && c10::isIntegralType(dtype, true)) ||
      (number.isComplex() && !c10::isComplexType(dtype))) {
    return false;
  }
  try {
    check_scalar(number, dtype);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

int64_t batch_dims(const at::Tensor& compressed) {
  return members_of(compressed)[0].dim() - 1;
}

bool is_matrix(const at::Tensor& tensor) {
  return tensor.dim() == 2 &&
         (tensor.layout() == at::kStrided || tensor.dense_dim() == 0);
}

// Whether the sizes and the dtypes are those of a product of matrices.
bool is_product(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                const at::Scalar& beta, const at::Scalar& alpha,
                const at::Tensor& out) {
  return self.layout() == at::kStrided && out.layout() == at::kStrided &&
         is_matrix(mat1) && is_matrix(mat2) && mat1.size(1) == mat2.size(0) &&
         at::is_expandable_to(self.sizes(), {mat1.size(0), mat2.size(1)}) &&
         same_device_and_dtype(out, {&self, &mat1, &mat2}) &&
         keeps(beta, out.scalar_type()) && keeps(alpha, out.scalar_type());
}

// LITERALINCLUDE START: SPARSE_ADDMM
// The result is dense and its size known, so the host does not wait.
void launch_addmm(const at::Tensor& self, const at::Tensor& mat1,
                  const at::Tensor& mat2, const at::Scalar& beta,
                  const at::Scalar& alpha, const at::Tensor& out) {
  out.resize_({mat1.size(0), mat2.size(1)});
  if (out.numel() > 0) {
    kernels::sparse_addmm(self, mat1, mat2, beta, alpha, out);
  }
}
// LITERALINCLUDE END: SPARSE_ADDMM

// What the CPU multiplies; for other layouts and dtypes it raises.
bool is_coo_product(const at::Tensor& mat1, const at::Tensor& mat2) {
  return mat1.is_sparse() && mat1.sparse_dim() == 2 && mat2.layout() == at::kStrided &&
         mat1.scalar_type() != at::kBool;
}

bool is_compressed_product(const at::Tensor& mat1, const at::Tensor& mat2) {
  const at::Layout left = mat1.layout(), right = mat2.layout();
  const bool layouts =
      right == at::kStrided
          ? left == at::kSparseCsr || left == at::kSparseCsc || left == at::kSparseBsr
          : left == at::kStrided &&
                (right == at::kSparseCsr || right == at::kSparseCsc);
  const at::ScalarType dtype = mat1.scalar_type();
  return layouts && at::hasMKL() &&
         (dtype == at::kFloat || dtype == at::kDouble || dtype == at::kComplexFloat ||
          dtype == at::kComplexDouble);
}

// LITERALINCLUDE START: COO_ADDMM
// Other products go to the CPU, which raises the error.
at::Tensor& coo_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha, at::Tensor& out) {
  if (!is_coo_product(mat1, mat2) || !is_product(self, mat1, mat2, beta, alpha, out)) {
    return LayoutFallback<op::addmm_out, DispatchKey::SparseCPU>::call(
        self, mat1, mat2, beta, alpha, out);
  }
  launch_addmm(self, mat1, mat2, beta, alpha, out);
  return out;
}
// LITERALINCLUDE END: COO_ADDMM

at::Tensor coo_addmm(const at::Tensor& self, const at::Tensor& mat1,
                     const at::Tensor& mat2, const at::Scalar& beta,
                     const at::Scalar& alpha) {
  at::Tensor out = at::empty({0}, self.options());
  return coo_addmm_out(self, mat1, mat2, beta, alpha, out);
}

at::Tensor& coo_addmm_(at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                       const at::Scalar& beta, const at::Scalar& alpha) {
  if (!is_coo_product(mat1, mat2) || !is_product(self, mat1, mat2, beta, alpha, self) ||
      self.sizes() != at::IntArrayRef({mat1.size(0), mat2.size(1)})) {
    return LayoutFallback<op::addmm_, DispatchKey::SparseCPU>::call(self, mat1, mat2,
                                                                    beta, alpha);
  }
  launch_addmm(self, mat1, mat2, beta, alpha, self);
  return self;
}

at::Tensor& compressed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                                 const at::Tensor& mat2, const at::Scalar& beta,
                                 const at::Scalar& alpha, at::Tensor& out) {
  const auto is_csc = [](const at::Tensor& x) { return x.layout() == at::kSparseCsc; };
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_csc(self) || !is_csc(mat1) || !is_csc(mat2) || beta.equal(0),
      "openreg: addmm: torch reads indices out of bounds when all tensors are CSC; "
      "call mm() and add its result");
  if (!is_compressed_product(mat1, mat2) ||
      !is_product(self, mat1, mat2, beta, alpha, out)) {
    return LayoutFallback<op::addmm_out, DispatchKey::SparseCsrCPU>::call(
        self, mat1, mat2, beta, alpha, out);
  }
  launch_addmm(self, mat1, mat2, beta, alpha, out);
  return out;
}

// A sparse gradient that is added to a dense parameter is of a known size. A sum of two
// COO tensors has the elements of both.
at::Tensor& coo_add_out(const at::Tensor& self, const at::Tensor& other,
                        const at::Scalar& alpha, at::Tensor& out) {
  if (self.is_sparse() && other.is_sparse() && out.is_sparse()) {
    return kernels::sum_of_sparse(self, other, alpha, out);
  }
  const bool fits = self.layout() == at::kStrided && out.layout() == at::kStrided &&
                    other.is_sparse() && self.sizes() == other.sizes() &&
                    same_device_and_dtype(out, {&self, &other}) &&
                    keeps(alpha, out.scalar_type());
  if (!fits) {
    return LayoutFallback<op::add_out, DispatchKey::SparseCPU>::call(self, other, alpha,
                                                                     out);
  }
  out.resize_(self.sizes());
  kernels::sparse_add(self, other, alpha, out);
  return out;
}

// A product with a dense factor consists of operators on the values. That of two sparse
// tensors has the elements that both have.
at::Tensor& coo_mul_out(const at::Tensor& self, const at::Tensor& other,
                        at::Tensor& out) {
  if (!self.is_sparse() || !other.is_sparse()) {
    return op::mul_out::redispatch(c10::DispatchKeySet(DispatchKey::SparseCPU), self,
                                   other, out);
  }
  if (!out.is_sparse()) {
    return LayoutFallback<op::mul_out, DispatchKey::SparseCPU>::call(self, other, out);
  }
  return kernels::product_of_sparse(self, other, out);
}

// LITERALINCLUDE START: COMPRESSED_ADD
at::Tensor& compressed_add_out(const at::Tensor& self, const at::Tensor& other,
                               const at::Scalar& alpha, at::Tensor& out) {
  const bool strided = self.layout() == at::kStrided;
  const at::Tensor& compressed = strided ? other : self;
  const bool mixed = strided || other.layout() == at::kStrided;
  const bool row_or_column =
      compressed.layout() == at::kSparseCsr || compressed.layout() == at::kSparseCsc;
  TORCH_CHECK_NOT_IMPLEMENTED(
      !mixed || !row_or_column || compressed.dense_dim() == 0 ||
          self.sizes() != other.sizes(),
      "openreg: add: torch reads values out of bounds when a compressed tensor with "
      "dense dimensions is added to a strided tensor; call to_dense() first");
  const bool both = self.layout() == other.layout() && self.layout() == out.layout();
  TORCH_CHECK_NOT_IMPLEMENTED(
      !both || self.is_same(other) || batch_dims(self) == 0,
      "openreg: add: torch returns an invalid tensor when two batched compressed "
      "tensors are added; call to_dense() first");
  return both ? kernels::sum_of_sparse(self, other, alpha, out)
              : LayoutFallback<op::add_out, DispatchKey::SparseCsrCPU>::call(
                    self, other, alpha, out);
}
// LITERALINCLUDE END: COMPRESSED_ADD

// The products of rows and columns where `self` has elements: its own indices again.
at::Tensor csr_sampled_addmm(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha) {
  const bool fits =
      self.layout() == at::kSparseCsr && self.dim() == 2 && self.dense_dim() == 0 &&
      mat1.layout() == at::kStrided && mat2.layout() == at::kStrided &&
      mat1.dim() == 2 && mat2.dim() == 2 && mat1.size(1) == mat2.size(0) &&
      self.size(0) == mat1.size(0) && self.size(1) == mat2.size(1) &&
      (self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble) &&
      same_device_and_dtype(self, {&mat1, &mat2}) && keeps(beta, self.scalar_type()) &&
      keeps(alpha, self.scalar_type());
  if (!fits) {
    return LayoutFallback<op::sparse_sampled_addmm, DispatchKey::SparseCsrCPU>::call(
        self, mat1, mat2, beta, alpha);
  }
  const auto longs = [](const at::Tensor& indices) {  // as the CPU's result has them
    return indices.to(at::kLong, /*non_blocking=*/false, /*copy=*/true);
  };
  const at::Tensor out = at::_sparse_compressed_tensor_unsafe(
      longs(self.crow_indices()), longs(self.col_indices()), self.values().clone(),
      self.sizes(), self.scalar_type(), self.layout(), self.device(), std::nullopt);
  if (out._nnz() > 0) {
    kernels::sparse_sampled_addmm(mat1, mat2, beta, alpha, out);
  }
  return out;
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("add.out", coo_add_out);
  m.impl("addmm", coo_addmm);
  m.impl("addmm.out", coo_addmm_out);
  m.impl("addmm_", coo_addmm_);
  m.impl("mul.out", coo_mul_out);
}
TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  m.impl("add.out", compressed_add_out);
  m.impl("addmm.out", compressed_addmm_out);
  m.impl("sparse_sampled_addmm", csr_sampled_addmm);
}

}  // namespace
}  // namespace openreg

// Indices of compressed tensors, which are dense; see docs/operators/sparse.md.
#include <ATen/Operators.h>
#include <ATen/ops/_convert_indices_from_coo_to_csr_cpu_dispatch.h>
#include <ATen/ops/_convert_indices_from_coo_to_csr_meta.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_cpu_dispatch.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_meta.h>
#include <ATen/ops/_validate_compressed_sparse_indices_cpu_dispatch.h>

#include "csrc/aten/structured/Structured.h"
#include "csrc/kernels/cpu/LaunchAndWait.h"

namespace openreg {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::Tensor;

void check_dtype(const char* name, const Tensor& indices) {
  const at::ScalarType dtype = indices.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(
      at::isIntegralType(dtype, false) && !at::isBarebonesUnsignedType(dtype), '"',
      name, "\" not implemented for '", dtype, "'");
}

// The row offsets of a CSR tensor, from the sorted row indices of a COO tensor.
struct CooToCsr : meta::structured__convert_indices_from_coo_to_csr {
  void meta(const Tensor& rows, int64_t size, bool out_int32) {
    check_dtype("_convert_indices_from_coo_to_csr", rows);
    structured__convert_indices_from_coo_to_csr::meta(rows, size, out_int32);
  }
};

// LITERALINCLUDE START: COO_TO_CSR
void coo_to_csr(const Tensor& rows, int64_t size, bool out_int32, Tensor& out) {
  cpu::launch("_convert_indices_from_coo_to_csr",
              at::cpu::_convert_indices_from_coo_to_csr_outf, rows.contiguous(), size,
              out_int32, out);
}
// LITERALINCLUDE END: COO_TO_CSR

// The inverse. `transpose` exchanges rows and columns.
struct CsrToCoo : meta::structured__convert_indices_from_csr_to_coo {
  void meta(const Tensor& compressed, const Tensor& plain, bool out_int32,
            bool transpose) {
    check_dtype("_convert_indices_from_csr_to_coo", compressed);
    TORCH_CHECK(compressed.scalar_type() == plain.scalar_type(),
                "expected scalar type ", compressed.scalar_type(), " but found ",
                plain.scalar_type());
    structured__convert_indices_from_csr_to_coo::meta(compressed, plain, out_int32,
                                                      transpose);
  }
};

void csr_to_coo(const Tensor& compressed, const Tensor& plain, bool out_int32,
                bool transpose, Tensor& out) {
  cpu::launch("_convert_indices_from_csr_to_coo",
              at::cpu::_convert_indices_from_csr_to_coo_outf, compressed.contiguous(),
              plain.contiguous(), out_int32, transpose, out);
}

// Throws if `nnz` numbers of a matrix cannot have these indices. `compressed` counts
// the rows of a CSR tensor if `is_crow`, else the columns of a CSC tensor. Torch calls
// this if a program enables checks of sparse tensor invariants; the host waits for the
// result.
void validate(bool is_crow, const Tensor& compressed, const Tensor& plain,
              int64_t compressed_dim, int64_t dim, int64_t nnz) {
  cpu::launch_and_wait("_validate_compressed_sparse_indices", compressed.device(),
                       at::cpu::_validate_compressed_sparse_indices, is_crow,
                       compressed, plain, compressed_dim, dim, nnz);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<op::_convert_indices_from_coo_to_csr,
             op::_convert_indices_from_coo_to_csr_out, CooToCsr>(m, coo_to_csr);
  structured<op::_convert_indices_from_csr_to_coo,
             op::_convert_indices_from_csr_to_coo_out, CsrToCoo>(m, csr_to_coo);
  m.impl("_validate_compressed_sparse_indices", validate);
}

}  // namespace openreg

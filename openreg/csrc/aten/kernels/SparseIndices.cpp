// Indices of compressed tensors, which are dense; see docs/operators/sparse.md.
#include "csrc/aten/kernels/SparseIndices.h"

#include <ATen/ops/_convert_indices_from_coo_to_csr_cpu_dispatch.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_cpu_dispatch.h>
#include <ATen/ops/_validate_compressed_sparse_indices_cpu_dispatch.h>

namespace openreg::kernels {

void coo_to_csr_indices(const at::Tensor& rows, int64_t size, bool out_int32,
                        at::Tensor& out) {
  at::cpu::_convert_indices_from_coo_to_csr_outf(rows.contiguous(), size, out_int32,
                                                 out);
}

void csr_to_coo_indices(const at::Tensor& compressed, const at::Tensor& plain,
                        bool out_int32, bool transpose, at::Tensor& out) {
  at::cpu::_convert_indices_from_csr_to_coo_outf(
      compressed.contiguous(), plain.contiguous(), out_int32, transpose, out);
}

void validate_compressed_indices(bool is_crow, const at::Tensor& compressed,
                                 const at::Tensor& plain, int64_t compressed_dim,
                                 int64_t dim, int64_t nnz) {
  at::cpu::_validate_compressed_sparse_indices(is_crow, compressed, plain,
                                               compressed_dim, dim, nnz);
}

}  // namespace openreg::kernels

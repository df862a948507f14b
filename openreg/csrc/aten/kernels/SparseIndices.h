// Indices of compressed tensors, which are dense; see docs/operators/sparse.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Writes the `size` + 1 row offsets of a CSR tensor to `out`, from the sorted row
// indices of a COO tensor. `out` is of int32 if `out_int32`, else of int64.
void coo_to_csr_indices(const at::Tensor& rows, int64_t size, bool out_int32,
                        at::Tensor& out);

// The inverse: writes the [2, nnz] indices of a COO tensor to `out`, from the row
// offsets and the column indices. `transpose` exchanges rows and columns.
void csr_to_coo_indices(const at::Tensor& compressed, const at::Tensor& plain,
                        bool out_int32, bool transpose, at::Tensor& out);

// Throws if `nnz` numbers of a matrix cannot lie at these indices. `compressed` counts
// the rows of a CSR tensor if `is_crow`, else the columns of a CSC tensor.
void validate_compressed_indices(bool is_crow, const at::Tensor& compressed,
                                 const at::Tensor& plain, int64_t compressed_dim,
                                 int64_t dim, int64_t nnz);

}  // namespace openreg::kernels
